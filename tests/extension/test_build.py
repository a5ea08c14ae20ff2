"""How the extension is made of its own files and the page's, and what is refused."""

import json
import re
import shutil
import zipfile

import pytest

from scripts.extension import DOCUMENT, ROOT, BuildError, build, join_scripts, pack
from scripts.store_checks import explanations


def name_in(folder, path):
    return path.relative_to(folder).as_posix()


@pytest.fixture
def sources(tmp_path):
    """A tree with a small extension; `write(path, text)` adds a file, and `made()` builds it."""

    class Sources:
        target = tmp_path / "built"

        def write(self, path, text):
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

        def made(self):
            build(self.target, tmp_path)
            return {name_in(self.target, path): path.read_text() for path in self.target.rglob("*.*")}

    tree = Sources()
    tree.write(
        "webui/index.html",
        '<script type="importmap">{"imports": {"lit": "/static/vendor/lit.js", "lit/": "/static/vendor/lit/"}}'
        "</script>",
    )
    tree.write("webui/vendor/lit.js", "export const html = 1;\n")
    tree.write("webui/vendor/lit/directives/repeat.js", "export {html as repeat} from '../../lit.js';\n")
    tree.write(
        "webui/base/i18n.js",
        "import {html} from 'lit';\nimport {repeat} from 'lit/directives/repeat.js';\n"
        "export const icon = '/static/icon.svg';\n",
    )
    tree.write("webui/client/session.js", "export const where = 'page';\n")
    tree.write("webui/shell/unused.js", "import(somewhere);\n")
    tree.write("extension/manifest.json", "{}")
    tree.write("extension/panel/panel.html", '<script type="module" src="panel.js"></script>')
    tree.write(
        "extension/panel/panel.js",
        "import {icon} from '../webui/base/i18n.js';\nimport '../webui/client/session.js';\n",
    )
    return tree


def test_imports_become_relative_and_only_what_is_reached_comes_along(sources):
    made = sources.made()
    assert made["webui/base/i18n.js"] == (
        "import {html} from '../vendor/lit.js';\nimport {repeat} from '../vendor/lit/directives/repeat.js';\n"
        "export const icon = '/webui/icon.svg';\n"
    )
    assert made["panel/panel.js"].startswith("import {icon} from '../webui/base/i18n.js';")
    assert "webui/vendor/lit.js" in made
    assert "webui/shell/unused.js" not in made
    assert "webui/index.html" not in made


def test_overlay_stands_in_the_place_of_a_file_of_the_page(sources):
    sources.write("extension/panel/webui/client/session.js", "export const where = 'panel';\n")
    made = sources.made()
    assert made["webui/client/session.js"] == "export const where = 'panel';\n"
    assert "panel/webui/client/session.js" not in made
    sources.write("extension/panel/webui/client/gone.js", "")
    with pytest.raises(BuildError, match=r"panel/webui/client/gone\.js: there is no"):
        sources.made()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "import {thing} from 'left-pad';",
            "panel/panel.js: imports 'left-pad', which is neither a path nor in the import map",
        ),
        ("import './gone.js';", "panel/panel.js: there is no panel/gone.js"),
        ("void import('./gone.js');", "panel/panel.js: there is no panel/gone.js"),
    ],
)
def test_import_that_no_browser_would_find_is_named(sources, line, message):
    sources.write("extension/panel/panel.js", f"{line}\n")
    with pytest.raises(BuildError, match=message.replace(".", r"\.")):
        sources.made()


def test_document_that_loads_from_elsewhere_is_refused(sources):
    sources.write("extension/panel/panel.html", '<script src="https://cdn.example/lit.js"></script>')
    with pytest.raises(BuildError, match="loads https://cdn"):
        sources.made()


def test_scripts_of_a_page_become_one_in_the_order_in_which_they_need_each_other():
    scripts = {
        "page/main.js": "import {find} from './find.js';\nfind();\n",
        "page/find.js": "import {LIMIT} from './bounds.js';\nexport function find() {\n  return LIMIT;\n}\n",
        "page/bounds.js": "export const LIMIT = 30;\nclass Own {}\n",
    }
    joined = join_scripts(scripts)
    assert joined.startswith("(() => {\n'use strict';\n// page/bounds.js\nconst LIMIT = 30;\n")
    assert joined.index("function find()") < joined.index("find();\n")
    assert "import" not in joined
    assert "export" not in joined
    assert joined.endswith("})();\n")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import * as all from './b.js';", "can be joined"),
        ("import {one as two} from './b.js';", "without another name"),
        ("import {gone} from './b.js';", r"page/b\.js exports no gone"),
        ("import {one} from './c.js';", r"there is no page/c\.js"),
        ("export default 1;", "can be joined"),
        ("export {one};", "can be joined"),
        ("await one;", "can be joined"),
        ("const {one, two} = three;", "one name at a time"),
        ("const one = 2;", r"one is the name of something in page/b\.js too"),
        ("import {one} from './b.js';\nexport const two = 2;", "import each other"),
    ],
)
def test_what_joining_does_not_understand_is_refused(source, message):
    other = "import {two} from './a.js';\nexport const one = 1;\n" if "two = 2" in source else "export const one = 1;\n"
    with pytest.raises(BuildError, match=message):
        join_scripts({"page/b.js": other, "page/a.js": f"{source}\n"})


@pytest.mark.more
@pytest.mark.slow
def test_real_extension_is_made_of_its_sources_and_passes_what_stores_look_at(tmp_path):
    built = tmp_path / "extension"
    build(built)
    own = {name_in(ROOT / "extension", path) for path in (ROOT / "extension").rglob("*.*")}
    changed = ("page/", "panel/webui/")
    copied = [name for name in own if not name.startswith(changed) and not name.endswith((".js", ".ts"))]
    for name in copied:
        assert (built / name).read_bytes() == (ROOT / "extension" / name).read_bytes()
    assert all((built / name).is_file() for name in own if name.startswith(("worker/", "tab/")))
    manifest = json.loads((built / "manifest.json").read_text("utf-8"))
    assert set(explanations(DOCUMENT)) == {*manifest["permissions"], *manifest["optional_host_permissions"]}
    assert f'version = "{manifest["version"]}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    pack(tmp_path / "first.zip", built)
    pack(tmp_path / "again.zip", built)
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "first.zip") as archive:
        assert "manifest.json" in archive.namelist()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The real extension, as it is built."""
    folder = tmp_path_factory.mktemp("extension")
    build(folder)
    return folder


LOOSE = "default-src 'none'; script-src 'self' https://cdn.example; style-src 'self'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("panel/panel.js", "eval('1');", "panel/panel.js: runs text as code"),
        ("panel/panel.js", "import(somewhere);", "panel/panel.js: imports what its source does not name"),
        ("panel/panel.js", "import 'https://cdn.example/lit.js';", "panel/panel.js: imports from elsewhere"),
        ("panel/other.html", '<script src="//cdn.example/lit.js"></script>', "panel/other.html: loads from elsewhere"),
        ("panel/other.html", "<script>alert(1)</script>", "panel/other.html: has scripts or styles in its text"),
        ("panel/other.css", "@import 'https://cdn.example/a.css';", "panel/other.css: loads from elsewhere"),
        ("panel/other.wasm", "", "panel/other.wasm: is of no kind"),
        ("icons/48.png", "no picture", "48.png is no PNG of 48 × 48"),
        ("_locales/fr/messages.json", "{}", "the text name is not in every language"),
        ("manifest.json", {"permissions": ["debugger"]}, "docs/extension.md does not say why debugger is needed"),
        ("manifest.json", {"permissions": []}, "explains activeTab, which is not asked for"),
        ("manifest.json", {"externally_connectable": {}}, "has externally_connectable"),
        ("manifest.json", {"content_security_policy": {}}, "has script-src nowhere, not 'self' alone"),
        ("manifest.json", {"content_security_policy": {"extension_pages": LOOSE}}, "has script-src 'self' https"),
        ("manifest.json", {"description": "d" * 133}, "description in en has 133 characters, not 1 to 132"),
        ("manifest.json", {"name": ""}, "name in en has 0 characters"),
        ("manifest.json", {"icons": {}}, "has no icon of 16 pixels"),
        ("manifest.json", {"version": "1.0-beta"}, "version '1.0-beta' is not one to four numbers"),
    ],
)
def test_what_a_store_would_refuse_is_not_packed(built, tmp_path, path, text, message):
    changed = tmp_path / "extension"
    shutil.copytree(built, changed)
    if isinstance(text, dict):
        text = json.dumps({**json.loads((changed / path).read_text("utf-8")), **text})
    (changed / path).parent.mkdir(parents=True, exist_ok=True)
    (changed / path).write_text(text, "utf-8")
    archive = tmp_path / "extension.zip"
    with pytest.raises(BuildError, match=re.escape(message)):
        pack(archive, changed)
    assert not archive.exists()


def test_document_tells_the_shortcut_and_the_menu_as_they_are():
    document = DOCUMENT.read_text("utf-8")
    manifest = json.loads((ROOT / "extension" / "manifest.json").read_text("utf-8"))
    texts = json.loads((ROOT / "extension" / "_locales" / "en" / "messages.json").read_text("utf-8"))
    for command in manifest["commands"].values():
        title = texts[command["description"].removeprefix("__MSG_").removesuffix("__")]["message"]
        assert f"| <kbd>{command['suggested_key']['default']}</kbd> | *{title}*:" in document
    for key in [key for key in texts if key.startswith("menu")]:
        assert f"*{texts[key]['message']}*" in document
    assert f"version {manifest['minimum_chrome_version']} or later" in document


def test_languages_have_the_same_texts():
    texts = {
        path.parent.name: json.loads(path.read_text("utf-8")) for path in (ROOT / "extension").glob("_locales/*/*.json")
    }
    assert set(texts) == {"en", "zh_CN"}
    assert texts["en"].keys() == texts["zh_CN"].keys()
