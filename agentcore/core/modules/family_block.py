"""From the block of a family's module to that module: what of it counts, its check, and the call of the family."""

import inspect
from typing import Any

from pydantic import BaseModel

from agentcore.config.loading import AppConfig
from agentcore.config.settings_of_modules import RawSettings, validate_settings
from agentcore.config.written_secrets import secrets_to_mask
from agentcore.core.declarations.manifest import settings_of
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.reference_values import references_of
from agentcore.core.discovery.source_search import Found, Places
from agentcore.core.module_code.module_error import type_name
from agentcore.core.module_code.value_reading import WrongValueError
from agentcore.secrets import register_masked_values

_PARAMETERS = 2


def make_member(member: FamilyMember, family: Any, model: type[BaseModel] | None, block: RawSettings) -> Any:
    """Create the module of a block. Runs code of the family: call it in a thread, under a limit.

    Args:
        model: The model of its blocks, from `block_model`.
        block: The block with resolved references.
    Raises:
        ConfigError: The block is invalid; each problem has its location in app.json, and never shows a value.
        BaseException: Raised by the family.
    """
    return family(member.name, _validate_block(block, model))


def settings_in_code(found: Found, places: Places) -> tuple[str, type[BaseModel] | None]:
    """Return the key of a module's settings and their class. Imports its code, and creates the module of a block.

    The secrets of a block stay masked in this process, because a family may quote them in an error.

    Args:
        places: app.json, in whose environment and secrets the references of a block are looked up.
    Raises:
        BaseException: Raised when importing or creating it.
    """
    target = found.load()
    if isinstance(found, FamilyMember):
        model = block_model(target)
        block = raw_block(found)
        if isinstance(places, AppConfig):
            resolved = references_of(places).resolve(block.values, block.origins)
            register_masked_values((*resolved.secrets, *secrets_to_mask(model, block.values)))
            block = RawSettings(block.key, resolved.values, block.origins)
        target = make_member(found, target, model, block)
    return settings_of(target, found.name)


def block_model(family: Any) -> type[BaseModel] | None:
    """Return the model of a family's blocks, the type of its second parameter; None: they are plain objects.

    Raises:
        TypeError: The family is not a function of a name and a block.
        BaseException: Raised by its annotations.
    """
    if not callable(family):
        raise WrongValueError("the family's entry point", "a function of a name and a block", family)
    parameters = list(inspect.signature(family, eval_str=True).parameters.values())
    if len(parameters) < _PARAMETERS:
        raise TypeError(f"the family's {type_name(family)} is to take a name and a block, and takes {len(parameters)}")
    hint = parameters[1].annotation
    return hint if isinstance(hint, type) and issubclass(hint, BaseModel) else None


def raw_block(member: FamilyMember) -> RawSettings:
    """Return the unchanged block of app.json, after checking that references occur only where they are allowed."""
    block = member.layers.get_subtree(member.path)
    return RawSettings(member.family.key, block.values, block.origins)


def _validate_block(block: RawSettings, model: type[BaseModel] | None) -> Any:
    """The block as its family gets it: an object of its model, or a dict."""
    return block.values if model is None else validate_settings(model, block)
