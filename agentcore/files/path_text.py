"""`PathText`: a path as the user writes it in app.json."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field


def _check_path_text(text: str) -> str:
    if not text or "\0" in text:
        raise ValueError("expected a path: text that is not empty and has no NUL character")
    try:
        Path(text).expanduser()
    except RuntimeError as exc:
        raise ValueError(f"{text!r} begins with the home folder of nobody known here") from exc
    return text


PathText = Annotated[str, AfterValidator(_check_path_text), Field(json_schema_extra={"minLength": 1})]
"""A path, or a pattern of paths; a leading `~` is a home folder."""
