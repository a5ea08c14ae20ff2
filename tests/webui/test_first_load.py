"""What the first load brings: little, own sources only, and nothing that the policy forbids."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.async_api import expect

from agentcore.server.page.static_files import without_comments

# follows the static imports of a script, as a browser does
IMPORTS = r"""async (start) => {
    const found = new Set();
    const address = (name, from) => name.startsWith('.') ? new URL(name, from).pathname
        : `/static/vendor/${name === 'lit' ? 'lit.js' : name}`;
    const follow = async (path) => {
        if (found.has(path)) return;
        found.add(path);
        const text = await (await fetch(path)).text();
        const names = [...text.matchAll(/^(?:import|export)\s(?:[^;']*?from\s*)?'([^']+)'/gm)].map((match) => match[1]);
        await Promise.all(names.map((name) => follow(address(name, new URL(path, location.href)))));
    };
    await follow(start);
    return [...found];
}"""
REPOSITORY = Path(__file__).resolve().parents[2]
TSC = REPOSITORY / "node_modules" / ".bin" / "tsc"
GZIP_LIMIT = 150_000
"""The application and a new chat in English; what shows messages comes with the first one, texts of other views with
these."""


async def first_load(ui):
    """A page that was never open in its browser, and the paths that it asked for until its first view stood."""
    page = await (await ui.context()).new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url.split("#")[0]))
    await page.goto(f"{ui.address}/#code={ui.host.store.page_sessions.create_code()}")
    await expect(page.get_by_role("heading", name="Connect a model")).to_be_visible()
    await expect(page.get_by_text("Connected")).to_be_visible()
    assert all(url.startswith(f"{ui.address}/") for url in asked), "the page asks another server"
    return page, {url.removeprefix(ui.address) for url in asked}


async def test_first_load_is_small(start_webui):
    ui = await start_webui(["fs_tools"])
    _, paths = await first_load(ui)
    documents = [path for path in paths if path == "/" or path.startswith("/static/")]
    bodies = [await (await ui.server.get(path)).read() for path in documents]
    assert len(bodies) > 20
    assert sum(len(gzip.compress(body)) for body in bodies) < GZIP_LIMIT


@pytest.mark.more
async def test_what_a_view_needs_is_loaded_with_the_view(start_webui):
    ui = await start_webui()
    page, paths = await first_load(ui)
    assert "/static/vendor/lit.js" in paths
    assert not [path for path in paths if re.search("highlight|marked|ac-view-modules|ac-chat-messages", path)]
    async with page.expect_request("**/ac-view-modules.js"):
        await page.get_by_role("link", name="Modules", exact=True).click()


@pytest.mark.more
async def test_document_names_what_the_application_imports(start_webui):
    """A script that is imported and not named costs a round trip; one that is named and not used costs its size."""
    ui = await start_webui()
    page = await ui.page()
    imported = set(await page.evaluate(IMPORTS, "/static/app.js"))
    document = await (await ui.server.get("/")).text()
    named = set(re.findall(r'<link rel="modulepreload" href="([^"]+)">', document))
    needed = imported - {"/static/app.js"}
    assert sorted(needed - named) == [], "imported, but without a modulepreload in index.html"
    assert sorted(named - needed) == [], "in index.html, but not imported by the application"


@pytest.mark.more
@pytest.mark.spec("S1")
async def test_policy_allows_own_sources_and_one_inline_script(start_webui):
    ui = await start_webui()
    page = await ui.page()
    response = await page.goto(f"{ui.address}/?again")
    directives = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"].startswith("'self' 'sha256-")
    assert directives["script-src"].count("sha256-") == 1
    assert directives["style-src"] == "'self'"
    assert directives["frame-ancestors"] == "'none'"


@pytest.mark.more
@pytest.mark.spec("S1")
async def test_policy_stops_a_script_and_a_style_that_got_into_the_page(start_webui):
    ui = await start_webui()
    ui.allowed_errors += ["Content Security Policy", "Refused", "401"]
    page = await ui.page()
    await page.evaluate("""() => {
        const holder = document.createElement('div');
        holder.innerHTML = '<img src="/no" onerror="window.didRun = true"><p style="color: red" id="styled">x</p>';
        document.body.append(holder);
        const script = document.createElement('script');
        script.textContent = 'window.didRun = true';
        document.body.append(script);
    }""")
    await expect(page.locator("#styled")).not_to_have_css("color", "rgb(255, 0, 0)")
    assert await page.evaluate("window.didRun") is None


@pytest.mark.more
@pytest.mark.source_tree
@pytest.mark.skipif(not TSC.exists(), reason="types are checked after `npm ci`")
def test_types_of_all_scripts_are_right():
    node = shutil.which("node")
    assert node is not None
    done = subprocess.run([TSC, "--project", REPOSITORY / "jsconfig.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# prints the names of scripts whose code, without comments and blank lines, is not the same in both folders
SAME_CODE = r"""
const [esbuild, fs, path] = ['esbuild', 'node:fs', 'node:path'].map((name) => require(name));
const [, written, sent] = process.argv;
const options = {legalComments: 'none', minifyWhitespace: true};
const code = (file) => esbuild.transformSync(fs.readFileSync(file, 'utf8'), options).code;
const lines = (file) => fs.readFileSync(file, 'utf8').split('\n').length;
for (const name of fs.readdirSync(sent, {recursive: true}).filter((each) => each.endsWith('.js'))) {
    const both = [path.join(written, name), path.join(sent, name)];
    if (code(both[0]) !== code(both[1]) || lines(both[0]) !== lines(both[1])) console.log(name);
}
"""


@pytest.mark.more
@pytest.mark.source_tree
@pytest.mark.skipif(not TSC.exists(), reason="scripts are compared after `npm ci`")
def test_scripts_are_sent_without_comments_and_are_the_same_code(tmp_path):
    page = REPOSITORY / "webui"
    scripts = [path for path in page.rglob("*.js") if "vendor" not in path.parts]
    for path in scripts:
        sent = tmp_path / path.relative_to(page)
        sent.parent.mkdir(parents=True, exist_ok=True)
        sent.write_bytes(without_comments(path.read_bytes()))
        assert b"/** " not in sent.read_bytes(), path
    done = subprocess.run(
        ["node", "-e", SAME_CODE, page, tmp_path], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


async def test_scripts_of_the_page_come_without_comments_and_others_as_they_are(start_webui):
    ui = await start_webui()
    script = await (await ui.server.get("/static/app.js")).text()
    assert "import " in script
    assert "/**" not in script
    assert "/*" in await (await ui.server.get("/static/vendor/lit.js")).text()
