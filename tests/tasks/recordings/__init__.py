"""What models answered, by task and conversation."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def load_recording(name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the answers of each conversation of a task, by its name."""
    recording: dict[str, list[dict[str, Any]]] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return recording


def save_recording(name: str, recording: dict[str, list[dict[str, Any]]]) -> None:
    """Store the answers of each conversation of a task."""
    text = json.dumps(recording, ensure_ascii=False, indent=1)
    (_FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
