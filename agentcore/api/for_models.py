"""Marks for `json_schema_extra` of an argument: what models are shown of it, where that is less than others read."""

from pydantic.config import JsonDict

from agentcore.model_mark import FOR_MODELS

HIDDEN_FROM_MODELS: JsonDict = {FOR_MODELS: False}
"""Hides an optional argument from models; it is accepted from them nevertheless."""


def known_to_models(told: str = "") -> JsonDict:
    """Return the JSON Schema extra that shortens a description for models.

    Args:
        told: The description for models; empty: none.
    """
    return {FOR_MODELS: told}
