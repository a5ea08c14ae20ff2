"""Files and folders that are given to pages, by whatever the page asks for them with."""

import asyncio

import pytest

SHARES_PAGE = True

PICKERS = """<button id=one>One</button><button id=many>Many</button><button id=dir>Folder</button>
<button id=save>Save</button><output></output>"""
SCRIPT = """(() => {
  const out = document.querySelector('output');
  const on = (id, work) => { document.getElementById(id).onclick = async () => {
    try { out.textContent = await work(); } catch (error) { out.textContent = `${error.name}: ${error.message}`; }
  }; };
  const read = async handle => `${handle.kind} ${handle.name} ${await (await handle.getFile()).text()}`;
  on('one', async () => { const [handle] = await showOpenFilePicker({types: [{accept: {'text/plain': ['.txt']}}]});
    return `${handle instanceof FileSystemFileHandle} ${await read(handle)}`; });
  on('many', async () => (await Promise.all((await showOpenFilePicker({multiple: true})).map(read))).join());
  on('dir', async () => {
    const folder = await showDirectoryPicker();
    const inner = await folder.getDirectoryHandle('inner');
    return `${folder.kind} ${folder.name}: ${await read(await inner.getFileHandle('b.txt'))}`;
  });
  on('save', async () => {
    const handle = await showSaveFilePicker({suggestedName: 'report.txt'});
    const writable = await handle.createWritable();
    await writable.write('saved text');
    await writable.close();
    return `wrote ${handle.name}`;
  });
})(), 1"""


@pytest.fixture
def files(host):
    """Files and a folder of the workspace."""
    (host.workspace / "a.txt").write_text("hello")
    (host.workspace / "more.txt").write_text("more")
    (host.workspace / "album" / "inner").mkdir(parents=True, exist_ok=True)
    (host.workspace / "album" / "a.txt").write_text("first")
    (host.workspace / "album" / "inner" / "b.txt").write_text("second")
    if not (host.workspace / "album" / "link").is_symlink():
        (host.workspace / "album" / "link").symlink_to("/etc/hostname")
    return host.workspace


@pytest.fixture
def pickers(show, value, files):
    async def run():
        await show(PICKERS)
        await value(SCRIPT)

    return run


async def shown(act, value, expected):
    await act("browser_wait_for", condition="document.querySelector('output').textContent != ''")
    assert expected in await value("document.querySelector('output').textContent")


async def test_page_that_picks_a_file_by_script_reads_it(act, value, pickers, text):
    await pickers()
    assert "The page asks for one file" in text(await act("browser_click", selector="#one", snapshot=True))
    await act("browser_file_upload", paths=["a.txt"])
    await shown(act, value, "true file a.txt hello")


@pytest.mark.more
async def test_page_that_picks_several_files_by_script_reads_them(act, value, pickers, text):
    await pickers()
    assert "The page asks for files" in text(await act("browser_click", selector="#many", snapshot=True))
    await act("browser_file_upload", paths=["a.txt", "more.txt"])
    await shown(act, value, "file a.txt hello,file more.txt more")


@pytest.mark.more
async def test_page_that_picks_a_folder_by_script_reads_it(act, value, pickers, text):
    await pickers()
    assert "The page asks for a folder" in text(await act("browser_click", selector="#dir", snapshot=True))
    await act("browser_file_upload", paths=["album"])
    await shown(act, value, "directory album: file b.txt second")


@pytest.mark.more
async def test_no_file_is_an_answer_to_a_script_that_picks_one(act, value, pickers):
    await pickers()
    await act("browser_click", selector="#one")
    await act("browser_file_upload", paths=[])
    await shown(act, value, "AbortError")


@pytest.mark.more
async def test_what_a_page_saves_to_a_picked_file_is_an_artifact(act, value, pickers):
    await pickers()
    saved = (await act("browser_click", selector="#save", snapshot=True)).data.get("downloads", [])
    await shown(act, value, "wrote report.txt")
    for _ in range(100):
        if saved:
            break
        saved = (await act("browser_get_dom")).data.get("downloads", [])
        await asyncio.sleep(0.05)
    assert [each["name"] for each in saved] == ["report.txt"]


@pytest.mark.more
@pytest.mark.parametrize(
    "html",
    [
        "<input type=file webkitdirectory {}>",
        "<input type=file webkitdirectory hidden id=f {}><label for=f>Folder</label>",
        "<label>Folder <input type=file webkitdirectory style='display:none' {}></label>",
    ],
)
async def test_field_for_folders_gets_a_folder_without_the_links_in_it(act, fails, show, value, files, html):
    await show(html.format('onchange="document.title = [...this.files].map(f => f.webkitRelativePath).sort().join()"'))
    error = await fails("browser_file_upload", selector="input", paths=["a.txt"])
    assert (error.type, "asks for a folder" in str(error)) == ("invalid_arguments", True)
    given = await act("browser_file_upload", selector="input", paths=["album"])
    assert sorted(given.data["files"]) == ["album/a.txt", "album/inner/b.txt"]
    assert await value("document.title") == "album/a.txt,album/inner/b.txt"
    assert await value("document.querySelector('input').files[0].text()") in {"first", "second"}


@pytest.mark.more
async def test_field_that_takes_one_file_says_so(fails, show, files):
    await show("<input type=file>")
    error = await fails("browser_file_upload", selector="input", paths=["a.txt", "more.txt"])
    assert (error.type, "takes one file alone" in str(error)) == ("invalid_arguments", True)
    error = await fails("browser_file_upload", selector="input", paths=["album"])
    assert (error.type, "asks for files" in str(error)) == ("invalid_arguments", True)


@pytest.mark.more
async def test_chooser_that_got_the_wrong_thing_is_still_open(act, fails, show, value, files):
    await show(
        "<input type=file hidden onchange='document.title = this.files[0].name'>"
        "<button onclick='this.previousSibling.click()'>Choose</button>"
    )
    await act("browser_click", selector="button")
    assert (await fails("browser_file_upload", paths=["a.txt", "more.txt"])).type == "invalid_arguments"
    await act("browser_file_upload", paths=["a.txt"])
    assert await value("document.title") == "a.txt"


@pytest.mark.more
@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ("<label for=f>Picture</label><p><input type=file id=f multiple hidden {}>", "label"),
        ("<label>Picture <input type=file multiple style='position:absolute;opacity:0' {}></label>", "label"),
        ("<div class=zone>Drop here <input type=file multiple style='display:none' {}></div>", ".zone"),
    ],
)
async def test_hidden_field_is_given_files_through_what_stands_for_it(act, show, value, files, html, selector):
    await show(html.format('onchange="document.title = [...this.files].map(f => f.name).join()"'))
    await act("browser_file_upload", selector=selector, paths=["a.txt", "more.txt"])
    assert await value("document.title") == "a.txt,more.txt"


@pytest.mark.more
@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ("<input type=file {}>", "input"),
        ("<label for=f>Picture</label><input type=file id=f {}>", "label"),
        ("<button onclick=this.nextSibling.click()>Picture</button><input type=file hidden {}>", "button"),
        (
            "<button onclick='setTimeout(() => this.nextSibling.click(), 50)'>Late</button><input type=file {}>",
            "button",
        ),
    ],
    ids=["field", "label", "button", "late"],
)
async def test_click_on_whatever_asks_for_files_opens_a_chooser_that_is_given_them(
    act, show, value, files, html, selector
):
    """Drisp's browser server was reported to open no chooser on any page, so that nothing could be uploaded."""
    await show(html.format('onchange="document.title = this.files[0].name"'))
    clicked = await act("browser_click", selector=selector)
    assert "fileChooser" in clicked.data or "Late" in html
    await act("browser_file_upload", paths=["a.txt"])
    assert await value("document.title") == "a.txt"


@pytest.mark.more
async def test_files_are_dropped_on_an_area_and_a_folder_is_not(act, fails, show, value, files):
    await show(
        "<div ondragover='event.preventDefault()' ondrop='event.preventDefault();"
        "document.title = [...event.dataTransfer.files].map(f => f.name).join()'>Drop here</div>"
    )
    dropped = await act("browser_file_upload", selector="div", paths=["a.txt", "more.txt"])
    assert dropped.data["dropped"]
    assert await value("document.title") == "a.txt,more.txt"
    error = await fails("browser_file_upload", selector="div", paths=["album"])
    assert (error.type, "cannot be dropped" in str(error)) == ("invalid_arguments", True)


@pytest.mark.more
async def test_nothing_that_asks_for_files_is_said_with_what_works(fails, show, files):
    await show("<p>Nothing")
    error = await fails("browser_file_upload", paths=["a.txt"])
    assert (error.type, "click what asks for them" in str(error)) == ("no_file_chooser", True)
