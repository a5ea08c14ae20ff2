"""Marks for `json_schema_extra` of an argument: what models are shown of it, where that is less than others read."""

from pydantic.config import JsonDict

from agentcore.model_mark import FOR_MODELS

HIDDEN_FROM_MODELS: JsonDict = {FOR_MODELS: False}
"""Models are not shown the argument; it may be left out, and is taken from them all the same."""


def known_to_models(told: str = "") -> JsonDict:
    """Models read less than persons and programs do, for they know most of it by the name.

    Args:
        told: What they read in place of the description; empty: nothing.
    """
    return {FOR_MODELS: told}
