"""Keys of app.json declared by families of modules: objects of blocks, each of which is a module."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from agentcore.config.app_json import AppDocument

D = TypeVar("D", bound=AppDocument)
Blocks = Mapping[str, type[BaseModel] | None]
"""The keys of families, each with the model of its blocks; None: not known."""

SECRET_PARTS = ("env", "headers")
"""Keys of a block whose values are secrets, whatever its model says: they are passed to programs and servers."""

_SECRETS: JsonDict = {"type": "object", "additionalProperties": {"type": "string", "writeOnly": True}}
ANY_BLOCK: JsonDict = {
    "type": "object",
    "properties": dict.fromkeys(SECRET_PARTS, _SECRETS),
    "additionalProperties": True,
}
"""Schema of a block while its family's code is not loaded, which may define a stricter one."""


def with_families(document: type[D], blocks: Blocks | Collection[str]) -> type[D]:
    """Return a model of app.json that includes the keys of families.

    Args:
        document: The model without them.
        blocks: The keys; if known, with the models of their blocks.
    """
    models = blocks if isinstance(blocks, Mapping) else dict.fromkeys(blocks)
    return _extend_model(document, tuple(sorted(models.items(), key=lambda item: item[0]))) if models else document


@lru_cache(32)
def _extend_model(document: type[D], blocks: tuple[tuple[str, type[BaseModel] | None], ...]) -> type[D]:
    # generated field names: a key may equal an attribute of the model
    fields: dict[str, Any] = {f"family_{number}": _family_field(*block) for number, block in enumerate(blocks)}
    made: type[D] = create_model(
        document.__name__, __base__=document, __module__=document.__module__, __doc__=document.__doc__, **fields
    )
    return made


def _family_field(key: str, model: type[BaseModel] | None) -> tuple[Any, Any]:
    description = "Blocks of a family of modules: each is a module of its own, which `modules` lists by its name."
    extra: JsonDict = {"default": {}, "x-family": True}
    kind: Any = dict[str, Any]
    if model is None:
        extra["additionalProperties"] = ANY_BLOCK
    else:
        kind = dict[str, model]  # type: ignore[valid-type]  # known at run time only
    return Annotated[kind, Field(alias=key, repr=False, description=description, json_schema_extra=extra)], {}
