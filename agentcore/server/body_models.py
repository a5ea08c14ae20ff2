"""Base classes for the bodies that the API accepts and sends."""

from pydantic import BaseModel
from pydantic.alias_generators import to_camel


class WireModel(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """Has its fields in camelCase on the wire."""


class StrictModel(BaseModel, defer_build=True, extra="forbid", frozen=True):
    """Takes no other fields than its own, whose names are the same on the wire."""


class StrictWireModel(WireModel, StrictModel):
    """Takes no other fields than its own, in camelCase on the wire."""
