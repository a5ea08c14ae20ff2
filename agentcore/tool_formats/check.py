"""Find what models cannot do with a tool as defined, without a request to a provider."""

from collections.abc import Iterable
from typing import NamedTuple

from agentcore.tool_formats.formats import FORMS, FormName, LoweredSchema


class Finding(NamedTuple):
    """A part of a tool that does not work as its author intended.

    Args:
        form: The form in which it does not work.
        fault: The problem, as a sentence without the tool's name.
    """

    form: FormName
    fault: str


def check_tool(name: str, description: str, schema: LoweredSchema, forms: Iterable[FormName] = FORMS) -> list[Finding]:
    """Return the problems of a tool in some forms that the conversion of its schema cannot avoid."""
    found = []
    for form in (FORMS[each] for each in forms):
        found += [Finding(form.name, problem) for problem in schema.lower_to(form.dialect).faults]
        names = form.dialect.tool_names
        if names is not None and not names.fullmatch(name):
            found.append(
                Finding(form.name, f"its name does not match {names.pattern}, and the whole request is refused")
            )
        limit = form.dialect.description_chars
        if form.cuts_descriptions and limit is not None and len(description) > limit:
            found.append(
                Finding(form.name, f"its description has {len(description):,} characters and is cut at {limit:,}")
            )
    return found
