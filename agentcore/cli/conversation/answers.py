"""Tool questions at the terminal: free text, a form, an address to open, or consent to a model request."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

Question = Mapping[str, Any]
Answer = dict[str, Any]

Ask = Callable[[str], Awaitable[str | None]]
"""Shows a line and returns the user's answer without surrounding spaces, or None if the terminal was closed."""

_DECLINE = "/decline"
_DECLINED: Answer = {"isDeclined": True}
_YES = frozenset(("yes", "y", "是"))


def format_question(question: Question) -> str:
    """Return the question as it is printed, with the name of the host if another machine asks it."""
    host = question.get("host")
    return f"Host {host!r} asks, and gets the answer:\n{_question_text(question)}" if host else _question_text(question)


def _question_text(question: Question) -> str:
    match question["kind"]:
        case "form":
            return f"? {question['text']}\n  ({_DECLINE} answers nothing at all)"
        case "address":
            return f"? {question['text']}\n  Open this page yourself, if you want to: {question['url']}"
        case "sample":
            request = "wants your model to write a text. It would be told:"
            return f"? {question['askedBy']} {request}\n\n{question['text']}\n"
    options = question.get("options") or ()
    return f"? {question['text']}" + (f" ({' / '.join(options)})" if options else "")


async def collect_answer(question: Question, ask: Ask) -> Answer | None:
    """Read the user's answer to a question that is already shown.

    Returns:
        The body of the answer, or None if the terminal was closed.
    """
    match question["kind"]:
        case "form":
            return await _fill_form(question["form"], ask)
        case "address":
            return await _ask_consent("Type yes when you are done there, or anything else to decline:", ask)
        case "sample":
            return await _ask_consent("Type yes to have it written, or anything else to decline:", ask)
    while (line := await ask("")) is not None:
        if line:
            return {"text": line}
    return None


async def _ask_consent(question: str, ask: Ask) -> Answer | None:
    line = await ask(question)
    if line is None:
        return None
    return {} if line.lower() in _YES else _DECLINED


async def _fill_form(form: Mapping[str, Any], ask: Ask) -> Answer | None:
    content: dict[str, Any] = {}
    for name, field in form["properties"].items():
        is_required = name in form.get("required", ()) and field.get("default") is None
        line = await ask(_field_prompt(name, field, is_required=is_required))
        while line == "" and is_required:
            line = await ask("This one is needed:")
        if line is None or line == _DECLINE:
            return None if line is None else _DECLINED
        if line:
            content[name] = [part.strip() for part in line.split(",")] if field["type"] == "array" else line
    return {"content": content}


def _field_prompt(name: str, field: Mapping[str, Any], *, is_required: bool) -> str:
    about = ", ".join(_describe_field(field, is_required=is_required))
    message = f" – {field['description']}" if field.get("description") else ""
    return f"{field.get('title') or name}{message}" + (f" ({about}):" if about else ":")


def _describe_field(field: Mapping[str, Any], *, is_required: bool) -> Iterator[str]:
    options = field.get("oneOf") or (field.get("items") or {}).get("oneOf")
    if options:
        yield " / ".join(str(option["const"]) for option in options)
    if field["type"] == "array":
        yield "with commas between"
    if field["type"] == "boolean":
        yield "yes / no"
    if field.get("default") is not None:
        yield f"else {field['default']}"
    elif not is_required:
        yield "may be left empty"
