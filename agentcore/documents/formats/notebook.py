"""Cells of notebooks (IPYNB) with their outputs."""

import json
import re
from typing import Any

from agentcore.documents.formats.parser_output import Output, UnreadableError

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_OUTPUT_CHARS = 20_000


def read_notebook(body: bytes, output: Output) -> None:
    """Write the source of each cell, and below it what it printed; images are named with their size."""
    notebook = json.loads(body.decode("utf-8-sig"))
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if cells is None and isinstance(notebook, dict):  # format 3
        cells = [cell for sheet in notebook.get("worksheets", ()) for cell in sheet.get("cells", ())]
    if not isinstance(cells, list) or not cells:
        raise UnreadableError("it is no notebook: it has no cells")
    output.write_head("cells of a notebook (IPYNB)", "application/x-ipynb+json", count=len(cells))
    for number, cell in enumerate(cells, 1):
        kind = str(cell.get("cell_type", "raw"))
        texts = [_join(cell.get("source", cell.get("input", "")))]
        texts += [f"Output:\n{shown}" for each in cell.get("outputs") or () if (shown := _show_output(each))]
        texts += [_show_image(*each) for each in _attached(cell)]
        output.write_part(f"cell {number} of {len(cells)}: {kind}", "\n\n".join(filter(None, texts)))


def _show_output(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        trace = "\n".join(map(str, output.get("traceback") or ()))
        return _bounded(trace or f"{output.get('ename')}: {output.get('evalue')}")
    if "text" in output and "data" not in output:
        return _bounded(_join(output["text"]))
    data = output.get("data")
    if not isinstance(data, dict):
        return ""
    images = [_show_image(kind, _join(each)) for kind, each in data.items() if kind.startswith("image/")]
    text = next((_join(data[kind]) for kind in ("text/markdown", "text/plain", "text/latex") if kind in data), "")
    if not text and not images:
        text = f"[{', '.join(map(str, data))}]"
    return "\n".join(filter(None, [_bounded(text), *images]))


def _attached(cell: dict[str, Any]) -> list[tuple[str, str]]:
    files = cell.get("attachments")
    if not isinstance(files, dict):
        return []
    return [(f"{name}, {kind}", _join(data)) for name, kinds in files.items() for kind, data in kinds.items()]


def _show_image(kind: str, data: str) -> str:
    size = len(data) if "svg" in kind else len(data) * 3 // 4
    return f"[{kind}, {size:,} bytes]"


def _join(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def _bounded(text: str) -> str:
    shown = _ANSI.sub("", text).rstrip()
    if len(shown) <= _OUTPUT_CHARS:
        return shown
    return f"{shown[:_OUTPUT_CHARS]}\n[{len(shown) - _OUTPUT_CHARS:,} more characters of this output]"
