"""The table of events in docs/http-api.md, made from what is declared: `python -m scripts.event_table` writes it."""

import re
from pathlib import Path

from agentcore.core.event_types import EVENT_TYPES

DOCUMENT = Path(__file__).parent.parent / "docs" / "http-api.md"
_TABLE = re.compile(r"\| event \| fields \| \|\n(\|.*\n)*")


def with_table(document: str) -> str:
    """The document with the table as it has to be."""
    lines = ["| event | fields | |", "|---|---|---|"]
    for event in EVENT_TYPES:
        fields = ", ".join(name if name == "…" else f"`{name}`" for name in event.fields.split(", ") if name)
        meaning = event.meaning if event.is_kept else f"{event.meaning} Not resumed."
        lines.append(f"| `{event.name}` | {fields} | {meaning} |")
    table = "".join(f"{line}\n" for line in lines)
    return _TABLE.sub(lambda _: table, document)


if __name__ == "__main__":
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8")), "utf-8")
