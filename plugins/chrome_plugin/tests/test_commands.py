"""`agentcore browser`: a browser is downloaded, or installed as a package, and opened; failures say what to do."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

_SPEC = importlib.util.spec_from_file_location(
    "agentcore_chrome_without", Path(__file__).with_name("without_browser.py")
)
without = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(without)

pytestmark = pytest.mark.in_server("runs commands")


class Machine:
    """A machine without a browser, on which commands run."""

    def __init__(self, folder, browser_program):
        self.folder = folder
        self.browser = browser_program
        self.cache = folder / "cache"
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PLAYWRIGHT")},
            "PATH": without.bare_path(folder / "bin"),
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(self.cache),
            "AGENTCORE_STATE_DIR": str(folder / "state"),
        }

    def add_apt(self, **options):
        """Put a fake apt-get on the PATH; gives the file with its calls."""
        log = self.folder / "apt.log"
        program = self.folder / "bin" / "apt-get"
        program.write_text(without.fake_apt(log, self.folder / "bin" / "chromium", self.browser, **options))
        program.chmod(0o755)
        return log

    def run(self, *arguments):
        command = [sys.executable, "-m", "agentcore", "browser", *arguments, "--config", str(self.folder / "app.json")]
        return subprocess.run(
            command, env=self.environ, capture_output=True, text=True, check=False, cwd=self.folder, timeout=180
        )


@pytest.fixture
def machine(tmp_path, browser_program):
    return Machine(tmp_path, browser_program)


@pytest.fixture
def server(machine):
    with without.DownloadServer(without.real_browser(machine.browser)).running() as running:
        machine.environ["PLAYWRIGHT_DOWNLOAD_HOST"] = running.address
        yield running


def test_a_browser_is_downloaded_checked_and_used_from_then_on(machine, server):
    assert "there is no browser on this machine" in machine.run("status").stderr
    done = machine.run("install")
    assert done.returncode == 0, done.stderr
    (program,) = machine.cache.glob("ms-playwright/chromium-*/chrome-linux64/chrome")
    assert f"The browser tools use {program}" in done.stdout
    assert "Downloading Chromium:" in done.stderr
    assert "MiB" in done.stderr
    assert "Checking the browser by opening a page" in done.stderr
    if os.geteuid() == 0:
        assert "As root, Chromium runs without its own sandbox." in done.stdout
    shown = json.loads(machine.run("status", "--json").stdout)
    assert (shown["executable"], shown["origin"]) == (str(program), "installed")
    assert shown["isSandboxed"] is (os.geteuid() != 0)
    asked = len(server.asked)
    assert machine.run("install").returncode == 0
    assert len(server.asked) == asked  # there is one already


@pytest.mark.more
def test_another_folder_is_honoured(machine, server):
    machine.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(machine.folder / "elsewhere")
    assert machine.run("install").returncode == 0
    assert list((machine.folder / "elsewhere").glob("chromium-*/chrome-linux64/chrome"))
    assert not machine.cache.exists() or not list(machine.cache.glob("ms-playwright/chromium-*"))


def test_a_refused_download_without_apt_says_why_and_what_to_do(machine, server):
    server.status = 404
    done = machine.run("install")
    assert done.returncode == 1
    assert "browser_install_failed: Chromium could not be downloaded:" in done.stderr
    assert "404" in done.stderr
    assert "PLAYWRIGHT_DOWNLOAD_HOST" in done.stderr
    assert "there is no browser" in machine.run("status").stderr


@pytest.mark.more
def test_a_truncated_download_leaves_no_browser(machine, server):
    server.sent_bytes = len(server.archive) // 2
    done = machine.run("install")
    assert done.returncode == 1
    assert "Chromium could not be downloaded:" in done.stderr
    assert not list(machine.cache.glob("ms-playwright/chromium-*/INSTALLATION_COMPLETE"))
    server.sent_bytes = None
    assert machine.run("install").returncode == 0


@pytest.mark.more
def test_without_a_network_it_says_so(machine):
    machine.environ["PLAYWRIGHT_DOWNLOAD_HOST"] = "http://127.0.0.1:9"
    done = machine.run("install")
    assert done.returncode == 1
    assert "ECONNREFUSED" in done.stderr


@pytest.mark.more
@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")
def test_root_gets_the_package_where_the_download_is_refused(machine, server):
    server.status = 404
    log = machine.add_apt()
    done = machine.run("install")
    assert done.returncode == 0, done.stderr
    first, second = log.read_text().splitlines()
    assert first == "update"
    assert second.startswith("install -y")
    assert second.endswith("chromium fonts-liberation fonts-noto-color-emoji fonts-wqy-zenhei")
    assert f"The browser tools use {machine.folder / 'bin' / 'chromium'}" in done.stdout
    assert "Installing packages: Unpacking chromium" in done.stderr
    assert json.loads(machine.run("status", "--json").stdout)["origin"] == "machine"


@pytest.mark.more
@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")
def test_two_refusals_are_both_named(machine, server):
    server.status = 404
    machine.add_apt(code=100, error="E: Unable to locate package chromium")
    done = machine.run("install")
    assert done.returncode == 1
    assert "404" in done.stderr
    assert "apt-get update failed: E: Unable to locate package chromium" in done.stderr


@pytest.mark.more
def test_a_program_that_does_not_start_is_no_success(machine, server):
    server.archive = without.archive_with("chrome-linux64/chrome", "#!/bin/sh\necho no room >&2\nexit 1\n")
    done = machine.run("install")
    assert done.returncode == 1
    assert "browser_launch_failed" in done.stderr


@pytest.mark.more
def test_missing_system_libraries_are_named_with_the_command_that_installs_them(machine, server):
    script = "#!/bin/sh\necho 'chrome: error while loading shared libraries: libnss3.so: cannot open' >&2\nexit 127\n"
    server.archive = without.archive_with("chrome-linux64/chrome", script)
    done = machine.run("install")
    assert done.returncode == 1
    assert "the system library libnss3.so is missing" in done.stderr
    assert "playwright install-deps chromium" in done.stderr


@pytest.mark.more
def test_settings_that_name_another_browser_are_not_overridden(machine, server):
    (machine.folder / "app.json").write_text(json.dumps({"config": {"chrome": {"executable": "/nowhere/chrome"}}}))
    done = machine.run("install")
    assert done.returncode == 1
    assert "correct or remove `executable`" in done.stderr
    assert server.asked == []


@pytest.mark.more
def test_the_stub_of_ubuntus_snap_is_no_browser(machine):
    stub = machine.folder / "bin" / "chromium-browser"
    stub.write_text('#!/bin/sh\necho "Command requires: snap install chromium"\nexit 1\n')
    stub.chmod(0o755)
    assert "there is no browser on this machine" in machine.run("status").stderr


@pytest.mark.more
@pytest.mark.parametrize("as_root", [True, False])
def test_a_library_that_playwright_itself_needs_is_installed_first(machine, server, as_root):
    """A minimal Debian has no libatomic1, without which the Node.js inside Playwright does not start."""
    log = machine.add_apt() if as_root and os.geteuid() == 0 else machine.folder / "apt.log"
    node, _ = compute_driver_executable()
    wrapper = machine.folder / "node"
    error = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file"
    wrapper.write_text(f'#!/bin/sh\ngrep -q libatomic1 {log} && exec {node} "$@"\necho "{error}" >&2\nexit 127\n')
    wrapper.chmod(0o755)
    machine.environ["PLAYWRIGHT_NODEJS_PATH"] = str(wrapper)
    done = machine.run("install")
    if log.exists():
        assert done.returncode == 0, done.stderr
        assert "Installing system libraries" in done.stderr
    else:
        assert done.returncode == 1
        assert "libatomic.so.1" in done.stderr
        assert "libatomic1" in done.stderr.split("Run: ")[1]
