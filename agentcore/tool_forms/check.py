"""What a model cannot do with a tool as it is defined, found without asking any provider."""

from collections.abc import Iterable
from typing import NamedTuple

from agentcore.tool_forms.forms import FORMS, FormName, LoweredSchema


class Finding(NamedTuple):
    """One thing that does not go as its author has meant it.

    Args:
        form: For whom.
        fault: What, in a sentence without the tool's name.
    """

    form: FormName
    fault: str


def check_tool(name: str, description: str, schema: LoweredSchema, forms: Iterable[FormName] = FORMS) -> list[Finding]:
    """What becomes of a tool in some forms, beyond what can be put into other words."""
    found = []
    for form in (FORMS[each] for each in forms):
        found += [Finding(form.name, fault) for fault in schema.lower_to(form.dialect).faults]
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
