"""The documents: what they show can be typed and works."""

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forking import Command
from tests.support.command_line import run_command

DOCS = Path(__file__).parent.parent / "docs"
_TITLED = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FAMILY = re.compile(r'^```json\n(\{"modules": .*"counters": .*)\n^```$', re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def is_there(page, link, place):
    """Whether a link leads to a file, and to a heading of it."""
    file = page.parent / link if link else page
    return file.exists() and (
        not place or file.suffix != ".md" or place in map(slug, _HEADING.findall(file.read_text()))
    )


def slug(heading):
    """What a heading is called in an address."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def run(*command, cwd, **environ):
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=os.environ | environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def agentcore(*words, cwd, **environ):
    """What a command of agentcore prints; where nothing is said, it ends well."""
    done = run_command(*words, cwd=cwd, env=os.environ | environ, typed="", limit_s=120)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The two packages that the page builds, written and installed as it says: their projects and their site."""
    folder = tmp_path_factory.mktemp("tutorial")
    page = (DOCS / "writing-a-module.md").read_text()
    for name, content in _TITLED.findall(page):
        file = folder / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    install = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", folder / "site")
    run(*install, ".", "./counters", cwd=folder / "project")
    return folder


@pytest.fixture
def dice(built, tmp_path, monkeypatch):
    """The project of the page, whose packages are installed in this process."""
    shutil.copytree(built / "project", tmp_path / "project")
    monkeypatch.syspath_prepend(built / "site")
    before = set(sys.modules)
    yield tmp_path / "project", {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(built)):
            del sys.modules[name]


@pytest.mark.spec("M2")
def test_module_of_the_tutorial_installs_passes_its_test_and_is_called(dice, built):
    project, environ = dice
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert "3 passed" in run(*command, cwd=project, PYTHONPATH=str(built / "site"), **environ)
    agentcore("init", cwd=project, **environ)
    assert "dice" in json.loads((project / "app.json").read_text())["modules"]
    assert "dice_roll" in agentcore("tools", cwd=project, **environ)
    called = json.loads(agentcore("call", "dice_roll", "count=3", "--json", cwd=project, **environ))
    assert called["data"]["total"] == sum(called["data"]["dice"])


@pytest.mark.spec("M1")
def test_local_modules_of_the_tutorial_are_called(dice):
    project, environ = dice
    app = {"modules": ["shout", "greeter", "tables", "diary"], "config": {"greeter": {"greeting": "Good morning"}}}
    (project / "app.json").write_text(json.dumps(app))

    def call(*words):
        return agentcore("call", *words, cwd=project, **environ)

    assert "HELLO" in call("shout", "text=hello")
    assert "Good morning!" in call("greet")
    call("tables_make", "path=new.db", "table=people")
    assert "people" in call("tables_list", "path=new.db")
    assert "Sum up my monday" in call("diary_sum_up", "day=monday")


async def test_prompt_of_the_tutorial_completes_its_argument(dice, agentcore_host):
    project, _ = dice
    host = await agentcore_host([runpy.run_path(str(project / "modules" / "diary.py"))["Diary"]()])
    found = await host.host.complete_argument(host.host.registry.tools["diary_sum_up"], "day", "t", {})
    assert found.values == ("tuesday",)


@pytest.mark.spec("K10")
def test_family_of_the_tutorial_installs_passes_its_test_and_is_called(dice, built):
    project, environ = dice
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert "1 passed" in run(*command, cwd=project / "counters", PYTHONPATH=str(built / "site"), **environ)
    (project / "app.json").write_text(_FAMILY.search((DOCS / "writing-a-module.md").read_text())[1])
    assert "counter_coffee stands at 2" in agentcore("call", "counter_coffee_up", cwd=project, **environ)
    listed = agentcore("modules", "list", "--json", cwd=project, **environ)
    states = {module["name"]: module["state"] for module in json.loads(listed)["modules"]}
    assert states["counter_tea_green"] == "stopped"


def commands_of(page, program):
    """The lines of a page's consoles that call a program, continued lines joined."""
    consoles = "\n".join(_CONSOLE.findall(page.read_text())).replace("\\\n", " ")
    lines = [line.removeprefix("$ ") for line in consoles.splitlines() if line.startswith("$ ")]
    return [line for line in lines if re.match(rf"([A-Z_]+=\S+ )*{program} ", line)]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "app.json").write_text('{"modules": ["fs_tools"], "server": {"port": 0}}')
    return tmp_path / "project", {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}


def shell(command, cwd, environ):
    done = subprocess.run(
        ["bash", "-c", command], cwd=cwd, env=os.environ | environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("name", ["../README.md", "configuration.md"])
def test_commands_of_a_page_work_as_they_stand(project, name):
    needs_server = re.compile(r" (serve|open|reload)\b")
    commands = [line for line in commands_of(DOCS / name, "agentcore") if not needs_server.search(line)]
    assert len(commands) > 2
    folder, environ = project
    for command in commands:
        words = shlex.split(command, comments=True)
        assert not {"|", "&&", ">", "<", "&"}.intersection(words), "this command needs a shell"
        assert words[0] == "agentcore"
        agentcore(*words[1:], cwd=folder, **environ)


def test_requests_of_the_http_page_work_as_they_stand(project):
    folder, environ = project
    log = folder / "serve.log"
    with (
        log.open("w") as output,
        Command("serve", "--port", "0", cwd=folder, env=os.environ | environ, stderr=output) as server,
    ):
        try:
            while '"server_ready"' not in log.read_text():
                assert server.poll() is None, log.read_text()
            ready = next(line for line in log.read_text().splitlines() if '"server_ready"' in line)
            address = json.loads(ready)["address"]
            token = (Path(environ["AGENTCORE_STATE_DIR"]) / "token").read_text().strip()
            requests = commands_of(DOCS / "http-api.md", "curl")
            assert len(requests) == 2
            for command in requests:
                said = shell(command.replace("http://127.0.0.1:8765", address), folder, {"AGENTCORE_TOKEN": token})
                assert "tools" in json.loads(said) or json.loads(said)["ok"]
        finally:
            server.terminate()


PAGES = [DOCS.parent / "README.md", *DOCS.glob("*.md"), *DOCS.parent.glob("plugins/*/README.md")]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_links_between_documents_lead_somewhere(page):
    broken = [f"{link}#{place}" for link, place in _LINK.findall(page.read_text()) if not is_there(page, link, place)]
    assert broken == []


_KEYED = '''
from agentcore.api import Module, tool


class Keyed(Module):
    """Uses a key."""

    class Settings(Module.Settings):
        key: str

    @tool(read_only=True)
    async def keyed_size(self) -> int:
        """Tell how long the key is."""
        return len(self.runtime.settings.key)
'''


@pytest.mark.spec("K5")
def test_secret_of_the_page_is_given_to_a_module_as_it_says(tmp_path):
    page = (DOCS / "secrets.md").read_text()
    (tmp_path / "app.json").write_text(re.search(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1])
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "keyed.py").write_text(_KEYED)
    pass_show = tmp_path / "bin" / "pass"
    pass_show.parent.mkdir()
    pass_show.write_text("#!/bin/sh\necho s3cret-value\n")
    pass_show.chmod(0o755)
    program = pass_show.with_name("agentcore")
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m agentcore "$@"\n')
    program.chmod(0o755)
    environ = {"PATH": f"{pass_show.parent}:{os.environ['PATH']}", "AGENTCORE_STATE_DIR": str(tmp_path / "state")}
    shown = [line.removeprefix("$ ") for block in _CONSOLE.findall(page) for line in block.splitlines()]
    _, piped, listing, removal = shown
    rest = ("agentcore call keyed_size", listing, f"{removal} --yes")
    done = [shell(piped, tmp_path, environ)]
    done += [agentcore(*shlex.split(command)[1:], cwd=tmp_path, **environ) for command in rest]
    assert (done[0], done[1].strip(), done[3]) == ("service_key is set.\n", "12", "service_key is removed.\n")
    assert "service_key" in done[2]
    assert "keyed" in done[2]
    assert "s3cret" not in "".join(done)
