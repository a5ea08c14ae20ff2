"""A bug in Django's sources, found by its failing test."""

import asyncio
import re
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.agents.agent import Agent, FailedError
from benchmarks.agents.programs import Programs

TITLE = "A bug fix in Django's sources"
TASK = (
    "Django's sources lie in the folder django. A test of utils_tests fails (run them in django/tests with "
    "`PYTHONPATH=.. python runtests.py utils_tests --parallel 1`): find the bug, mend it, and show that they pass."
)
_TESTS = "cd django/tests && PYTHONPATH=.. python runtests.py utils_tests --parallel 1"
_FILE = "django/django/utils/timesince.py"
_RIGHT = "        if pivot_month > 12:\n"
_WRONG = "        if pivot_month >= 12:\n"


@asynccontextmanager
async def world(programs: Programs, folder: Path) -> AsyncIterator[str]:
    """The sources in the workspace, with a bug; there is no address."""
    await asyncio.to_thread(_unpack, programs.django_sdist, folder)
    yield ""


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    next(folder.glob("django-*")).rename(folder / "django")
    file = folder / _FILE
    text = file.read_text()
    if text.count(_RIGHT) != 1:
        raise RuntimeError(f"{file} is not as it was")
    file.write_text(text.replace(_RIGHT, _WRONG))


async def play(agent: Agent, address: str) -> None:
    """The steps."""
    steps = _Steps(agent)
    await agent.step("run the tests", steps.run_tests)
    await agent.step("read the failing test", steps.read_test)
    await agent.step("find the function", steps.find_function, steps.find_file)
    await agent.step("read it", steps.read_function)
    await agent.step("mend it", lambda: agent.replace(_FILE, _WRONG, _RIGHT))
    await agent.step("run the tests again", steps.run_again)


class _Steps:
    """What is more than one call."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.failing: list[tuple[str, str]] = []
        self.functions: list[str] = []

    async def run_tests(self) -> None:
        text = await self.agent.run(_TESTS)
        self.failing = re.findall(r"^(?:FAIL|ERROR): (\w+) \(([\w.]+)\.\w+\.\w+\)", text, re.MULTILINE)
        if not self.failing:
            raise FailedError(f"no failing test is named: {text[-500:]}")

    async def read_test(self) -> None:
        if not self.failing:
            raise FailedError("no failing test is known")
        name, module = self.failing[0]
        text = await self.agent.read(f"django/tests/{module.replace('.', '/')}.py", around=f"def {name}")
        self.functions = re.findall(r"\b(timesince|timeuntil)\(", text)
        if not self.functions:
            raise FailedError("the test calls nothing known")

    async def find_function(self) -> None:
        if not self.functions:
            raise FailedError("no function is known")
        _expect(await self.agent.search(f"def {self.functions[0]}\\(", "django/django", "*.py"), "utils/timesince.py")

    async def find_file(self) -> None:
        _expect(await self.agent.glob("django/django", "**/*timesince*"), "utils/timesince.py")

    async def read_function(self) -> None:
        _expect(await self.agent.read(_FILE, around="pivot_month"), _WRONG.strip())

    async def run_again(self) -> None:
        text = await self.agent.run(_TESTS)
        if not re.search(r"^OK\b", text, re.MULTILINE):
            raise FailedError(f"they still fail: {text[-500:]}")


def _expect(text: str, part: str) -> None:
    if part not in text:
        raise FailedError(f"{part!r} is not in {text[:300]!r}")
