"""From the block of a family's module to that module: what of it counts, its check, and the call of the family."""

import inspect
from typing import Any

from pydantic import BaseModel, ValidationError

from agentcore.config.errors import ConfigError
from agentcore.config.problems import problems_of
from agentcore.host.containment.foreign_error import type_name
from agentcore.host.containment.reading import WrongValueError
from agentcore.host.discovery.families import FamilyMember
from agentcore.host.discovery.finding import Found
from agentcore.host.modules.manifest import settings_of

_PARAMETERS = 2


def make_member(member: FamilyMember, family: Any, model: type[BaseModel] | None) -> Any:
    """The module that a family makes of a block. Runs code of the family: in a thread, under a limit.

    Args:
        model: What its blocks are, as `block_model` gives it.
    Raises:
        ConfigError: The block is wrong; each problem names its place in app.json, and never shows a value.
        BaseException: What the family raised.
    """
    return family(member.name, _read_block(member, model))


def settings_in_code(found: Found) -> tuple[str, type[BaseModel] | None]:
    """The key of a module's settings and their class, as its code says. Imports it, and makes the module of a block.

    Raises:
        BaseException: Whatever keeps it from being imported or made.
    """
    target = found.load()
    if isinstance(found, FamilyMember):
        target = make_member(found, target, block_model(target))
    return settings_of(target, found.name)


def block_model(family: Any) -> type[BaseModel] | None:
    """The model of a family's blocks, which is the type of its second parameter; None: they are plain objects.

    Raises:
        TypeError: The family is no function of a name and a block.
        BaseException: What its annotations raised.
    """
    if not callable(family):
        raise WrongValueError("the family's entry point", "a function of a name and a block", family)
    parameters = list(inspect.signature(family, eval_str=True).parameters.values())
    if len(parameters) < _PARAMETERS:
        raise TypeError(f"the family's {type_name(family)} is to take a name and a block, and takes {len(parameters)}")
    hint = parameters[1].annotation
    return hint if isinstance(hint, type) and issubclass(hint, BaseModel) else None


def _read_block(member: FamilyMember, model: type[BaseModel] | None) -> Any:
    """The block as its family gets it: an object of its model, or a dict."""
    # here, before the model and the family see them, is where what values only refer to is put in their place
    block = member.layers.below(member.path)
    if model is None:
        return block.values
    try:
        return model.model_validate(block.values)
    except ValidationError as exc:
        # not chained: pydantic's text quotes the values, and one may be a secret
        raise ConfigError(problems_of(exc, model, block.values, block.origins)) from None
