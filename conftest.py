"""What holds for all tests: repeatable examples, one browser, which tests are fast, and what was skipped."""

import asyncio
import faulthandler
import gc
import os
import re
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, is_hypothesis_test, settings

from agentcore.plain_structlog import import_without_extras
from tests import programs

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from agentcore.testing import ClientFactory, EventLog, HostFactory

# rich takes up to seconds of processor time for the traceback of one error in the log, with all local variables
import_without_extras()

# Examples are the same in each run, and none has to be made within a time: a run says something about the code, not
# about the machine or its luck. `--hypothesis-profile=default` looks for new ones.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")

# A run in the background of a shell is made with SIGINT ignored, and so would be the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.support.folders", "tests.support.llama", "tests.support.programs", "tests.support.servers"]

ROOT = Path(__file__).parent
FLAGS = [
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # two pages of its own that Chromium loads for each new window: more work than most of the pages that are tested
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
]
WAIT_MS = 30_000
"""How long a test waits for an element of a page."""
STDERR = pytest.StashKey[int]()
LONGEST_S = 300.0
"""How long a test may take with all that it sets up and takes down: three times what the longest one
needed on a machine with thirty others to run."""

OUTSIDE = (
    *("tests/cli/", "tests/hosts/", "tests/webui/", "tests/supervision/", "tests/benchmarks/"),
    "tests/chat/test_whole_way.py",
    *("tests/server/routes/test_bundled_settings.py", "plugins/chrome_plugin/", "plugins/fs_tools/"),
    *("plugins/mcp_servers/", "plugins/nats_hosts/", "plugins/shell_tools/", "plugins/system_tools/"),
)
"""Where tests start processes: commands, browsers, `rg`, `git`, sandboxes, desktops."""
STARTING = {"browser", "start_server", "small_disk"}
"""Fixtures that start processes."""
OUTSIDE_PREFIXES = tuple(f"{ROOT}/{place}" for place in OUTSIDE)
HEAVY = ("tests/extension/", "tests/webui/engines/")
"""Folders whose conftest marks tests as `more`."""
ALL_HEAVY = re.compile(r"^pytestmark = .*\bmark\.more\b", re.MULTILINE)
NEVER_FAST = re.compile(r"^(?:pytestmark = .*\bmark\.(?:more|slow|processes)\b|import subprocess$)", re.MULTILINE)
"""Matches the source of files without fast tests, which `-m fast` does not read; `_check_what_is_read` checks it."""
MAY_START = re.compile(
    r"^import subprocess$|\bmark\.processes\b|\b(?:" + "|".join(sorted(STARTING)) + r")\b", re.MULTILINE
)
"""Matches the source of files whose tests may start processes, in addition to the folders in `OUTSIDE`."""
BY_OTHER_FIXTURES = ("tests/extension/", "plugins/ui_page_plugin/tests/test_component.py")
"""Where tests request a browser by another fixture's name."""
IS_ISOLATED = os.environ.get("AGENTCORE_TEST_ISOLATION") == "process"
"""Whether the modules of tests run in a process of their own, which starting a host then starts."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files unread that have none of the tests that are wanted: each worker reads all others, for seconds."""
    wanted = config.option.markexpr
    if not wanted or not collection_path.is_relative_to(ROOT):
        return None
    place = collection_path.relative_to(ROOT).as_posix()
    if wanted == "fast" and (f"{place}/".startswith(OUTSIDE) or place in OUTSIDE):
        return True
    if not (collection_path.name.startswith("test_") and collection_path.suffix == ".py"):
        return None
    source = collection_path.read_text()
    has_none = (
        (wanted == "more" and not _may_be_heavy(place, source))
        or (wanted == "fast" and NEVER_FAST.search(source))
        or ("not more" in wanted and ALL_HEAVY.search(source))
        or ("not one_process" in wanted and not _may_start(place, source))
    )
    return True if has_none else None


def _may_be_heavy(place: str, source: str) -> bool:
    return "mark.more" in source or place.startswith(HEAVY)


def _may_start(place: str, source: str) -> bool:
    return place.startswith((*OUTSIDE, *BY_OTHER_FIXTURES)) or MAY_START.search(source) is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the fast tests, and skip what holds in the server's process alone where modules run elsewhere."""
    for path in {item.path for item in items if item.get_closest_marker("more")}:
        if not _may_be_heavy(path.relative_to(ROOT).as_posix(), path.read_text()):
            raise pytest.UsageError(f"`-m more` does not read {path}: its text does not say mark.more")
    for item in items:
        if IS_ISOLATED and (stays := item.get_closest_marker("in_server")) is not None:
            item.add_marker(pytest.mark.skip(reason=f"in the server only: {stays.args[0]}"))
        if _stays_in_process(item):
            item.add_marker("one_process")
            if _is_fast(item):
                item.add_marker("fast")
    _check_what_is_read(items)


def _check_what_is_read(items: list[pytest.Item]) -> None:
    """Fail where a file has a test of a kind that its text rules out: it is not read where that kind is wanted."""
    for path in {item.path for item in items if item.get_closest_marker("fast")}:
        if NEVER_FAST.search(path.read_text()):
            raise pytest.UsageError(f"`-m fast` does not read {path}, and a test of it is fast")
    kinds = ("one_process", "more")
    for path in {item.path for item in items if not any(map(item.get_closest_marker, kinds))}:
        if not (IS_ISOLATED or _may_start(path.relative_to(ROOT).as_posix(), path.read_text())):
            raise pytest.UsageError(
                f"`-m 'not one_process'` does not read {path}, and a test of it starts a process: see MAY_START"
            )


def pytest_collection_finish() -> None:
    gc.freeze()  # else each full collection of garbage walks through some thousand tests and all modules


def _stays_in_process(item: pytest.Item) -> bool:
    """Return True if a test starts neither a browser nor another process; False for any heavy test."""
    return not (
        IS_ISOLATED
        or str(item.path).startswith(OUTSIDE_PREFIXES)
        or STARTING.intersection(getattr(item, "fixturenames", ()))
        or "subprocess" in vars(getattr(item, "module", item))
        or item.get_closest_marker("processes")
        or item.get_closest_marker("more")
    )


def _is_fast(item: pytest.Item) -> bool:
    """Return True if a test that stays in its process is short: few examples, none of them slow.

    The libraries of providers take longer to load than most tests.
    """
    return not (
        {"provider", "player"}.intersection(getattr(item, "fixturenames", ()))
        or is_hypothesis_test(getattr(item, "obj", None))
        or item.get_closest_marker("slow")
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STDERR] = os.dup(2)  # nothing is captured now; it is while tests run


@contextmanager
def _without_processes() -> Iterator[None]:
    """A block in which a process that is started fails. An audit hook would run when frames are read, too."""

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError(f"a test without the marker `processes` starts no process: {arguments!r}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "_execute_child", refuse)
        for name in ("fork", "posix_spawn", "system"):
            patch.setattr(os, name, refuse)
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Hold tests of one process to what they are, and end the process at a test that hangs, with what it waits for.

    The run goes on in a new process, and the test has failed. Nothing less ends it for certain: it may hang where it
    takes down what it set up, or where no exception is heard.
    """
    ending = threading.Timer(LONGEST_S, _end_hanging, (item.nodeid, item.config.stash[STDERR]))
    ending.daemon = True
    ending.start()
    try:
        with _without_processes() if item.get_closest_marker("one_process") else nullcontext():
            return (yield)
    finally:
        ending.cancel()


def _end_hanging(nodeid: str, descriptor: int) -> None:
    try:
        with open(descriptor, "w") as stderr:
            print(f"\n{nodeid} did not end in {LONGEST_S:g} s. Its threads and tasks:", file=stderr, flush=True)
            faulthandler.dump_traceback(stderr, all_threads=True)
            # by type(): a proxy of what is gone fails where it is asked what it is
            for task in [each for each in gc.get_objects() if issubclass(type(each), asyncio.Task) and not each.done()]:
                task.print_stack(file=stderr)
    finally:
        os._exit(1)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator["Browser"]:
    """Chromium, one for all tests of a worker.

    Its headless shell is used where it is installed: the same engine without the windows of a browser, each of which
    costs as much as a page.
    """
    from playwright.async_api import async_playwright, expect  # noqa: PLC0415 - most runs of one file need no browser

    expect.set_options(timeout=WAIT_MS)
    async with async_playwright() as playwright:
        executable = programs.find("chromium-headless-shell") or chromium
        browser = await playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        await browser.close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Report last what was skipped, and the command that installs what is missing."""
    yield
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    if not reasons:
        return
    terminalreporter.write_line(f"\n{reasons.total()} tests skipped:", yellow=True)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:5}  {reason}")
    if missing := programs.missing():
        terminalreporter.write_line("Missing programs can be installed on Debian and Ubuntu as root:", yellow=True)
        terminalreporter.write_line(f"  apt-get install {' '.join(missing)}", yellow=True)


def _checked(start: Callable[..., Awaitable[Any]], logs: list["EventLog"]) -> Callable[..., Awaitable[Any]]:
    async def make(*wanted: Any, **options: Any) -> Any:
        made = await start(*wanted, **options)
        logs.append(getattr(made, "running", made).events)
        return made

    return make


@pytest.fixture
def declared_events() -> Iterator[list["EventLog"]]:
    """Logs of hosts, whose own events have to be as the core declares them."""
    from tests.declared_events import undeclared  # noqa: PLC0415 - only where a host is made

    logs: list[EventLog] = []
    yield logs
    if found := [each for log in logs for each in undeclared(log)]:
        pytest.fail(f"not as agentcore.core.event_types has it: {found}")


@pytest.fixture
def agentcore_host(agentcore_host: "HostFactory", declared_events: list["EventLog"]) -> Any:
    """The fixture of the core, with its events looked at."""
    return _checked(agentcore_host, declared_events)


@pytest.fixture
def agentcore_client(agentcore_client: "ClientFactory", declared_events: list["EventLog"]) -> Any:
    """The fixture of the core, with its events looked at."""
    return _checked(agentcore_client, declared_events)
