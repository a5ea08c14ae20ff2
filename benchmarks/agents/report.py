"""What was played, as rows of `make bench` and as the tables of `docs/agents-compared.md`."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.agents.agent import Outcome
from benchmarks.agents.playing import SIDES, Played, Session
from benchmarks.measure import Row

PAGE = Path(__file__).parents[2] / "docs" / "agents-compared.md"
_BEGIN, _END = "<!-- begin: python -m benchmarks.agents --write -->", "<!-- end -->"
_OUTCOMES: tuple[Outcome, ...] = ("first try", "work-around", "impossible")
_HEADS = ("task", "with", "steps", *_OUTCOMES, "calls", "questions", "definitions", "results", "context")


def rows(played: Sequence[Played]) -> list[Row]:
    """Steps and context over all scenarios, against the other side."""
    ours, theirs = ([scenario.agents[side] for scenario in played] for side in SIDES[:2])
    steps = _count(ours)
    impossible, work_arounds = (_count(ours, outcome) for outcome in ("impossible", "work-around"))
    return [
        Row(f"impossible, of an agent's {steps} steps", impossible, 0, 0, "steps"),
        Row("done by a work-around", 100 * work_arounds / steps, 0, 5, "%"),
        Row("context, against MCP servers", _context(ours) / 1000, _context(theirs) / 1000, 0.5, "k characters"),
    ]


def markdown(played: Sequence[Played]) -> str:
    """A table of all scenarios, then one of the steps that were not done at the first try."""
    return "\n".join([*_overview(played), "", *_steps(played)])


def write(played: Sequence[Played]) -> None:
    """Put the tables into the page, between its marks."""
    text = PAGE.read_text()
    before, rest = text.split(_BEGIN)
    after = rest.split(_END)[1]
    PAGE.write_text(f"{before}{_BEGIN}\n\n{markdown(played)}\n\n{_END}{after}")


def _count(agents: Iterable[Session], outcome: Outcome | None = None) -> int:
    return sum(outcome in {None, step.outcome} for agent in agents for step in agent.steps)


def _context(agents: Iterable[Session]) -> int:
    return sum(agent.definitions_chars + agent.results_chars for agent in agents)


def _overview(played: Sequence[Played]) -> list[str]:
    lines = [_row(_HEADS), f"|---|---|{'--:|' * (len(_HEADS) - 2)}"]
    for scenario in played:
        lines += [_row((scenario.title, side, *_figures([agent]))) for side, agent in scenario.agents.items()]
    for side in SIDES if len(played) > 1 else ():
        agents = [scenario.agents[side] for scenario in played if side in scenario.agents]
        if len(agents) == len(played):
            lines.append(_row(("**all**", side, *_figures(agents))))
    return lines


def _figures(agents: Sequence[Session]) -> list[int]:
    sums = [
        sum(getattr(agent, name) for agent in agents)
        for name in ("calls", "questions", "definitions_chars", "results_chars")
    ]
    return [_count(agents), *(_count(agents, outcome) for outcome in _OUTCOMES), *sums, _context(agents)]


def _steps(played: Sequence[Played]) -> list[str]:
    lines = [_row(("task", "step", "with", "how")), "|---|---|---|---|"]
    for scenario in played:
        for side, agent in scenario.agents.items():
            hard = [step for step in agent.steps if step.outcome != "first try"]
            lines += [_row((scenario.title, step.name, side, step.outcome)) for step in hard]
    return lines


def _row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in cells)} |"
