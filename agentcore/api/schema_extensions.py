"""Marks for `json_schema_extra` of an argument: what models are shown of it, and by which other names they give it."""

from collections.abc import Sequence

from pydantic.config import JsonDict

from agentcore.schema_extension_keys import ALIASES, FLAT, FOR_MODELS, IGNORED

HIDDEN_FROM_MODELS: JsonDict = {FOR_MODELS: False}
"""Hides an optional argument from models; it is accepted from them nevertheless."""


def known_to_models(told: str = "") -> JsonDict:
    """Return the JSON Schema extra that shortens a description for models.

    Args:
        told: The description for models; empty: none.
    """
    return {FOR_MODELS: told}


def also_called(*names: str, flat: bool = False, ignored: Sequence[str] = ()) -> JsonDict:
    """Return the JSON Schema extra that accepts an argument from models by names that they know from other products.

    The names are mapped before a call is checked, approved and recorded, and its result says the right one. Combine it
    with others: `known_to_models() | also_called("file_path")`.

    Args:
        names: Names that no argument of the tool has.
        flat: True for a list of objects: the properties of a single one may be given beside the other arguments.
        ignored: Names of arguments that other products have beside this one, and that mean nothing here: they are left
            out.
    """
    extra: JsonDict = {ALIASES: list(names)} if names else {}
    if ignored:
        extra[IGNORED] = list(ignored)
    return extra | {FLAT: True} if flat else extra
