"""What a model is offered of the bundled modules, held against what people ask for; and whether the rest is found."""

import json
from pathlib import Path

import pytest

from tests.chat.turn.test_toolbox import offered

pytestmark = pytest.mark.spec("K9")

REPOSITORY = Path(__file__).parents[3]
MODULES = json.loads((REPOSITORY / "app.json").read_text())["modules"]

DESKTOP = {
    *("read_file", "write_file", "edit", "glob", "grep", "list_dir"),
    *("file_stat", "file_delete", "file_move", "file_copy"),
    *("bash", "bash_output", "bash_kill", "web_fetch", "web_search", "screenshot", "open_in_folder"),
    *("todo_write", "memory", "ask_user", "task", "compact"),
    *("browser_launch", "browser_navigate", "browser_click", "browser_type", "browser_scroll", "browser_hover"),
    *("browser_press_key", "browser_screenshot", "browser_get_dom", "browser_evaluate", "browser_wait_for"),
    *("browser_go_back", "browser_go_forward", "browser_reload", "browser_get_state"),
}
PAGE_TOOLS = [
    {"name": name, "description": "Of the page.", "parameters": {"type": "object", "properties": {}}}
    for name in ("page_action", "request_more_elements", "get_selected_text", "clear_ai_styles")
]

REQUESTS = (
    # files
    ("What does src/app.py do?", "read_file"),
    ("Which files here mention the old API address?", "grep"),
    ("Replace the old API address everywhere in the project", "grep edit"),
    ("Write a README for this folder", "list_dir read_file write_file"),
    ("List the Markdown files that changed last", "glob"),
    ("What is in this folder?", "list_dir"),
    ("How large is data.csv, and when was it changed?", "file_stat"),
    ("Move the photos into folders by year", "glob file_stat file_move"),
    ("Make a copy of the project under backup/", "file_copy"),
    ("Delete the temporary files", "glob file_delete"),
    ("Rename config.yml to settings.yml and adapt what uses it", "file_move grep edit"),
    ("Translate docs/guide.md into Chinese", "read_file write_file"),
    ("Show me report.pdf in the file manager", "open_in_folder"),
    ("Describe the picture logo.png", "read_file"),
    ("Turn notes.txt into a table in notes.md", "read_file write_file"),
    # commands
    ("Run the tests and tell me what fails", "bash"),
    ("Fix the failing test", "bash read_file grep edit"),
    ("Start the development server and open it in the browser", "bash bash_output browser_navigate"),
    ("Is the build still running? Show its last lines", "bash_output"),
    ("Stop the server that you started", "bash_kill"),
    ("Which commit broke the login?", "bash"),
    ("Install the package and try its example", "bash write_file"),
    ("Watch the log until an error shows up", "bash bash_output"),
    ("How much disk space is left?", "bash"),
    ("Refactor this module and keep the tests green", "grep read_file edit bash todo_write"),
    # the web
    ("What is new in Python 3.14?", "web_search web_fetch"),
    ("Summarise https://example.org/article", "web_fetch"),
    ("Compare the prices of three hosting providers", "web_search web_fetch todo_write"),
    ("Find the manual of this printer and save it", "web_search web_fetch artifact"),
    ("Read the first chapter of this long PDF", "web_fetch artifact"),
    ("Write a report from these five manuals", "web_fetch artifact write_file todo_write"),
    # the browser
    ("Log in to the intranet and tell me the news", "browser_navigate browser_snapshot browser_type browser_click"),
    ("Fill in the registration form with my data", "browser_navigate browser_snapshot browser_fill_form"),
    ("Choose Germany in the country list and send the form", "browser_snapshot browser_select_option browser_click"),
    ("Upload my CV on the application page", "browser_snapshot browser_file_upload"),
    ("Take a picture of our start page on a phone", "browser_launch browser_navigate browser_screenshot"),
    ("Scroll down until all comments are loaded and count them", "browser_scroll browser_snapshot"),
    ("Write a post in the editor of the blog", "browser_click browser_type browser_press_key"),
    ("Wait until the upload is done, then download the result", "browser_wait_for browser_click artifact"),
    ("Open the second result in a new tab", "browser_snapshot browser_tabs"),
    ("Answer the question that the page asks with OK", "browser_handle_dialog"),
    ("Go back to the list and take the next entry", "browser_go_back browser_snapshot browser_click"),
    ("Reload the page and see whether the price has changed", "browser_reload browser_snapshot"),
    ("What does the tooltip over the chart say?", "browser_hover browser_snapshot"),
    ("Read the value of the cart in the page's own store", "browser_evaluate"),
    ("Why does the page stay white? Look at its errors", "browser_console_messages browser_get_dom"),
    ("Which requests of this page fail?", "browser_network_requests"),
    ("Save this page as a PDF", "browser_pdf"),
    ("Press Ctrl+K and search for invoices", "browser_press_key browser_type"),
    ("Is the browser open, and where is it?", "browser_get_state"),
    # the desktop and the conversation
    ("What is on my screen?", "screenshot"),
    ("Remember that I like short answers", "memory"),
    ("What did I tell you about my team?", "memory"),
    ("Ask me before you decide on a name", "ask_user"),
    ("Plan the move to the new server step by step", "todo_write"),
    ("Have three assistants look at these three libraries", "task"),
    ("This conversation is long; keep only what matters", "compact"),
    ("Look at the rest of the long output from before", "artifact"),
    # the page that agentcore itself shows, and the one that the person looks at
    ("Make the text of this window larger", "ui_page_dom_patch"),
    ("Fill the form on my page with these data", "page_action request_more_elements"),
)

QUERIES = {
    "browser_network_requests": "show the network requests of the page",
    "browser_drag": "drag and drop an element",
    "browser_pdf": "save the page as PDF",
    "browser_console_messages": "errors in the javascript console",
    "browser_select_option": "choose an entry of a dropdown list",
    "browser_file_upload": "upload a file",
    "browser_tabs": "switch or close tabs",
    "browser_handle_dialog": "accept an alert dialog",
    "browser_press_key": "press a key on the keyboard",
    "browser_go_back": "go back in history",
    "browser_evaluate": "run javascript in the page",
    "file_move": "rename a file",
    "file_delete": "remove a folder",
    "file_stat": "size of a file",
    "grep": "search text in files",
    "glob": "find files by name",
    "bash": "run a shell command",
    "bash_kill": "stop a background process",
    "web_search": "search the internet",
    "web_fetch": "read a web page",
    "memory": "remember something for later",
    "task": "start a sub-agent",
    "list_running": "list running processes and open pages of the session",
    "ask_user": "ask the person a question",
    "screenshot": "picture of the screen",
    "ui_page_dom_patch": "change the page of agentcore",
}
"""What a model would look for a tool by."""


BASIC = DESKTOP | {"browser_snapshot", "artifact"}

DEFINITIONS_CHARS, ADVICE_CHARS = 20_600, 1_650
"""What the 48 definitions and what the modules say of their use may have: every session begins with them."""


@pytest.mark.processes
async def test_bundled_tools_serve_what_people_ask_for_and_the_rest_is_found(open_talk, provider):
    """The basic tools are given beside a client's own; at most 2 of 60 requests need a search, and a plain one does."""
    provider.say("", *((f"c{number}", "find_tools", _query(words)) for number, words in enumerate(QUERIES.values())))
    provider.say("Done.")
    async with open_talk(*MODULES) as talk:
        events = await talk.post(browser_tools=PAGE_TOOLS)
        # those that are for views alone are no model's, and the client's count
        for_models = {name for name, tool in talk.host.registry.tools.items() if tool.definition.served_as is None}
        served = for_models - {tool["name"] for tool in PAGE_TOOLS}
        advices = [record.manifest.instructions for record in talk.host.registry.records.values()]
    given = offered(provider.requests[0])
    needed = {request: set(tools.split()) for request, tools in REQUESTS}
    searched = {request: hidden for request, tools in needed.items() if (hidden := tools - set(given))}
    results = [event["tool_result"] for event in events if "tool_result" in event]
    found = [
        [tool["name"] for tool in result["data"]["found"][:3]] + result["data"].get("already_offered", [])[:3]
        for result in results
    ]
    chrome = {name for name in served if name.startswith("chrome_")}
    bundled = [tool for tool in provider.requests[0]["tools"] if tool["function"]["name"] in served]
    chars = len(json.dumps(bundled, ensure_ascii=False, separators=(",", ":")))
    advice = sum(len(each) for each in advices)
    assert len(given) == 48 + len(PAGE_TOOLS) + 1
    assert set(given) >= BASIC
    assert not chrome & set(given)
    assert len(needed) == 60
    assert len(searched) <= 2, searched
    assert set(QUERIES) >= set().union(*searched.values(), served - chrome - set(given))
    assert {tool: names for tool, names in zip(QUERIES, found, strict=True) if tool not in names} == {}
    shorten = "shorten what was added, as 'Short definitions' in docs/writing-a-module.md says"
    assert chars <= DEFINITIONS_CHARS, f"the definitions that a chat begins with have {chars:,} characters: {shorten}"
    assert advice <= ADVICE_CHARS, f"the `instructions` of the bundled modules have {advice:,} characters: {shorten}"


def _query(words):
    return json.dumps({"query": words})
