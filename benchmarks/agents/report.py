"""The tables of what was played, in Markdown."""

from collections.abc import Sequence

from benchmarks.agents.playing import Played


def markdown(played: Sequence[Played]) -> str:
    """A table of all scenarios, then one of the steps that were not done at the first try."""
    return "\n".join([*_overview(played), "", *_steps(played)])


def _overview(played: Sequence[Played]) -> list[str]:
    lines = [
        "| scenario | side | steps | first try | work-around | impossible | calls | questions | definitions | results | context |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for scenario in played:
        for side, agent in scenario.agents.items():
            counts = [
                sum(step.outcome == outcome for step in agent.steps)
                for outcome in ("first try", "work-around", "impossible")
            ]
            cells = [len(agent.steps), *counts, agent.calls, agent.questions]
            context = agent.definitions_chars + agent.results_chars
            cells += [agent.definitions_chars, agent.results_chars, context]
            lines.append(f"| {scenario.title} | {side} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return lines


def _steps(played: Sequence[Played]) -> list[str]:
    lines = ["| scenario | step | side | how |", "|---|---|---|---|"]
    for scenario in played:
        for side, agent in scenario.agents.items():
            lines += [
                f"| {scenario.title} | {step.name} | {side} | {step.outcome} |"
                for step in agent.steps
                if step.outcome != "first try"
            ]
    return lines
