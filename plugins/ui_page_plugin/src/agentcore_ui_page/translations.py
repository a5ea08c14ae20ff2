"""Chinese translations of the tools."""

ZH = {
    "module.title": "agentcore 自身页面",
    "module": "agentcore 自身的页面：读取、在其中运行脚本、修改到下次重新加载为止。",
    "*.timeoutMs": "页面最多可用多久，毫秒。",
    "*.resourceId": "由哪个页面执行，取自之前的结果；不填则为正在使用的页面。",
    "ui_page_eval_js": "在 agentcore 自身的页面中运行 JavaScript 并给出其值：表达式，或带 `await`、`return` 的语句。",
    "ui_page_eval_js.script": "代码，可使用 `window` 和 `document`。",
    "ui_page_get_content": "读取 agentcore 自身的页面：带标题和控件选择器的 `summary`、`text` 或 `html`。",
    "ui_page_get_content.selector": "要读取部分的 CSS 选择器；不填则全部。",
    "ui_page_get_content.format": "以什么形式给出。",
    "ui_page_get_content.maxChars": "在多少字符处截断。",
    "ui_page_dom_patch": "修改 agentcore 自身的页面，直到重新加载：文字、属性、样式类、HTML、样式表。",
    "ui_page_dom_patch.operations": "要修改什么。",
    "ui_page_dom_patch.operations.selector": "CSS 选择器；也能找到组件内部的元素。",
    "ui_page_dom_patch.operations.text": "纯文本。",
    "ui_page_dom_patch.operations.html": "HTML；其中的脚本不会运行。",
    "ui_page_dom_patch.operations.name": "属性的名称。",
    "ui_page_dom_patch.operations.value": "纯文本。",
    "ui_page_dom_patch.operations.position": "插入位置，与 DOM 中的含义相同。",
    "ui_page_dom_patch.operations.className": "一个类名。",
    "ui_page_dom_patch.operations.css": "CSS；页面的颜色是自定义属性。",
}
