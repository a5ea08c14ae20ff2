"""Chinese texts of the tools, and example calls."""

ZH = {
    "module.title": "命令行",
    "module": "在工作区中运行命令，前台或后台。",
    "*.process_id": "以 background: true 运行 bash 时返回的编号：`terminal_0`，或资源的完整编号。",
    "bash": "在工作目录中用新的 bash 运行命令；所在文件夹和变量不会保留到下一次。没有输入。",
    "bash.command": "给 bash 的命令；只有给出 `keys` 时才可以为空。",
    "bash.background": "立即给出 process_id 并让它继续运行：服务器、监视程序、耗时的构建。",
    "bash.timeoutMs": "在前台：这么多毫秒后结束。",
    "bash.cwd": "在哪个文件夹中运行；不填则为第一个工作区根目录。",
    "bash.terminal": "在后台：用终端显示输出，适合绘制界面或提问的程序。",
    "bash.process_id": "改为把 `command` 和回车输入到此进程，并显示随后的输出。",
    "bash.keys": "与 `process_id` 一起：在 `command` 之后依次按这些键（此时不自动回车）："
    "`enter`、`escape`、`tab`、`up`、`pagedown`、`f5`、`ctrl+c`、`alt+x`、`q` …",
    "bash_output": "显示后台进程的输出（绘制界面的程序则显示其屏幕），以及它是否已结束。",
    "bash_output.block": "等到它结束，或等到有一行符合 `filter`。",
    "bash_output.timeoutMs": "与 `block` 一起：最多等待多久，毫秒。",
    "bash_output.filter": "筛选行的正则表达式。",
    "bash_output.all": "否：只给出上次查看之后的内容。",
    "bash_kill": "结束后台进程及其启动的一切。它的输出仍可读取。",
}

EXAMPLES = (
    {
        "tool": "bash",
        "title": {"en": "Run a command", "zh": "运行命令"},
        "arguments": {"command": "date && ls"},
    },
)
