"""Chinese translations of the tools."""

ZH = {
    "module.title": "你自己的标签页",
    "module": "你通过浏览器扩展逐个与对话共享的、你自己浏览器中的标签页。",
    "*.timeoutMs": "标签页最多可用多久，毫秒；询问用户的时间也计算在内。",
    "*.resourceId": "共享了多个标签页时指明其中一个，取自之前的结果。",
    "page_action": "在用户共享的标签页中依次执行：填写、点击、选择、勾选、滚动、读取、高亮、下划线。",
    "page_action.actions": "要执行的操作。",
    "page_action.actions.target": "已知时用 `elementId`；{} 表示当前选区。",
    "page_action.actions.target.selector": "CSS 选择器。",
    "page_action.actions.target.description": "不知道 id 时，元素的名称。",
    "page_action.actions.params.value": "要填写的文字；要选择的选项；勾选时为 true 或 false。",
    "page_action.actions.params.color": "CSS 颜色。",
    "page_action.actions.params.direction": "向哪里滚动。",
    "request_more_elements": "查看用户共享的标签页：地址、标题，以及带 id 的元素。",
    "request_more_elements.region": "只看页面的这一部分。",
    "request_more_elements.elementType": "只看这一类元素。",
    "request_more_elements.keyword": "匹配文字、占位符和标签。",
    "get_selected_text": "读取用户在其共享的标签页中选中的文字。",
    "clear_ai_styles": "去掉 `page_action` 在用户共享的标签页中所做的全部高亮和下划线。",
}
