"""A report from five long manuals."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.agents import sites
from benchmarks.agents.agent import Agent, FailedError
from benchmarks.agents.programs import Programs

TITLE = "A report from five long manuals"


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of one manual.

    Attributes:
        path: Where the manual is served.
        words: Words of the task that stand where the answer is.
        answer: Words of the answer, as the manual has them.
    """

    name: str
    path: str
    words: str
    answer: str


_QUESTIONS = (
    _Question("subprocess", "python3.11-doc/html/library/subprocess.html", "TimeoutExpired", "not lose any output"),
    _Question("Memcheck", "valgrind/html/mc-manual.html", "errors-for-leak-kinds", "definite,possible"),
    _Question("git rebase", "git-doc/git-rebase.html", "temporary stash entry", "apply it after the operation ends"),
    _Question("PostgreSQL", "postgresql-doc-15/html/runtime-config-resource.html", "shared memory", "128 megabytes"),
    _Question("SQLite", "sqlite3/pragma.html", "suggested cache size", "-2000"),
)
TASK = (
    "Write report.md from five manuals, a line each with the words of the manual: is output lost when communicate() of "
    "subprocess raises TimeoutExpired and is called again; the default of Memcheck's --errors-for-leak-kinds; when git "
    "rebase applies the temporary stash entry of --autostash; PostgreSQL's default for shared memory buffers; SQLite's "
    "default for the suggested cache size."
)


@asynccontextmanager
async def world(programs: Programs, folder: Path) -> AsyncIterator[str]:
    """The manuals, as Debian's packages have them; gives their address."""
    async with sites.files(programs) as address:
        yield f"{address}/doc"


async def play(agent: Agent, address: str) -> None:
    """The steps."""
    lines: list[str] = []

    async def look_up(question: _Question, words: str) -> None:
        text = await agent.look_up(f"{address}/{question.path}", words)
        found = [line for line in text.splitlines() if question.answer in line]
        if not found:
            raise FailedError(f"{question.answer!r} is not in {text[:500]!r}")
        lines.append(f"- {question.name}: {found[0].split(': ', 1)[-1].strip()}")

    async def check() -> None:
        text = await agent.read("report.md")
        missing = [question.name for question in _QUESTIONS if question.answer not in text]
        if missing:
            raise FailedError(f"the report says nothing of {missing}")

    for question in _QUESTIONS:
        await agent.step(
            f"find the answer in the manual of {question.name}",
            partial(look_up, question, question.words),
            partial(look_up, question, question.answer),
        )
    await agent.step("write the report", lambda: agent.write("report.md", "# Report\n\n" + "\n".join(lines) + "\n"))
    await agent.step("read it again", check)
