"""What has to hold whatever was killed, as rows of the table."""

from benchmarks.measure import Row
from benchmarks.pool.farm import Farm, note
from benchmarks.pool.load import EXPECTED, Load

_RECOVERY_SECONDS = 5.0


def rows(what: str, farm: Farm, load: Load) -> list[Row]:
    """Hold what sessions were told against what ran.

    Args:
        what: What was done, for the table.
    """
    runs = farm.runs()
    for each in load.disruptions:
        note(each.what, f"{each.took_s:.2f} s,", each.sessions, "sessions,", len(each.waiting), "never answered")
    for count in load.wrong_counts[:20]:
        note("wrong count:", count)
    note(what, dict(load.errors), dict(load.answered_again))
    recovery = max((each.took_s for each in load.disruptions), default=0.0)
    never = sum(len(each.waiting) for each in load.disruptions)
    unknown = load.errors["interrupted"]
    others = sum(number for error, number in load.errors.items() if error not in EXPECTED)
    found = [
        Row(f"{what}: until all sessions hit are answered again, longest", recovery, 0, _RECOVERY_SECONDS, "s"),
        Row(f"{what}: sessions never answered again", never, 0, 0, ""),
        Row(f"{what}: calls that ran twice, of {sum(runs.calls.values()):,}", load.ran_twice(runs), 0, 0, ""),
        Row(f"{what}: calls answered with a result that did not run", load.lost(runs), 0, 0, ""),
        Row(f"{what}: calls that ran though it was said they did not", load.ran_though_refused(runs), 0, 0, ""),
        Row(f"{what}: counts lost of hosts that lived on", len(load.wrong_counts), 0, 0, ""),
        Row(f"{what}: calls that ended as interrupted", unknown, 0, None, ""),
        Row(f"{what}: calls that ended in any other way", others, 0, 0, ""),
    ]
    if (asked := sum(load.answered_again.values())) > 0:
        told = load.answered_again["ok"] + load.answered_again["not begun"]
        found.append(
            Row(f"{what}: calls on their way then, of {asked}, whose end nobody tells", asked - told, 0, None, "")
        )
    return found
