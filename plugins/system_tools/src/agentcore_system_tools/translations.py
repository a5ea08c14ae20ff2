"""Chinese translations of the tools."""

ZH = {
    "module.title": "桌面",
    "module": "这台电脑的屏幕和文件管理器。",
    "screenshot": "截取用户的屏幕，用于查看或保存。",
    "screenshot.path": "保存到哪里：工作区中以 .png 结尾的路径；已有的文件会被替换。",
    "screenshot.display": "从 1 开始；不填则全部屏幕。",
    "screenshot.region": "只截取屏幕的这一部分，以像素为单位。",
    "screenshot.region.x": "距左边的像素数。",
    "screenshot.region.y": "距顶边的像素数。",
    "screenshot.region.width": "宽度，以像素为单位。",
    "screenshot.region.height": "高度，以像素为单位。",
    "screenshot.inline": "直接给出图片；不填则仅在不保存时给出。",
    "open_in_folder": "在用户的文件管理器中显示文件或文件夹；不会打开文件。",
    "open_in_folder.path": "工作区中的文件或文件夹。",
}
