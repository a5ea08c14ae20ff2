"""Resources that tools read, read strictly, because clients list them."""

import re
from typing import Any

from agentcore.api.readable_resource import ReadableResource
from agentcore.core.module_code.value_reading import WrongValueError, read_flag, read_text
from agentcore.limits import READABLE_RESOURCES, RESOURCE_URI_CHARS

OWN_ADDRESSES = ("agentcore:", "ui://agentcore/")
"""Beginnings of the addresses that the core itself serves."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_NAME_CHARS = 200
_DESCRIPTION_CHARS = 1_000
_MIME_CHARS = 200


def read_resources(value: Any, where: str) -> tuple[ReadableResource, ...]:
    """Read resources into plain values of the core's own.

    Raises:
        TypeError, ValueError: One of them is invalid; the message says why.
    """
    if not isinstance(value, list | tuple):
        raise WrongValueError(where, "a list of ReadableResource", value)
    if len(value) > READABLE_RESOURCES:
        raise ValueError(f"{where} has {len(value):,} entries, the limit is {READABLE_RESOURCES:,}")
    return tuple(_read_resource(each, where) for each in value)


def _read_resource(value: Any, where: str) -> ReadableResource:
    if not isinstance(value, ReadableResource):
        raise WrongValueError(where, "a list of ReadableResource", value)
    uri = read_text(value.uri, f"uri of {where}", "a URI", pattern=_URI)
    if uri.lower().startswith(OWN_ADDRESSES):
        raise WrongValueError(f"uri of {where}", f"a URI that begins with none of {', '.join(OWN_ADDRESSES)}", uri)
    return ReadableResource(
        _limit(uri, f"uri of {where}", RESOURCE_URI_CHARS),
        _limit(read_text(value.name, f"name of {where}"), f"name of {where}", _NAME_CHARS),
        _limit(read_text(value.description, f"description of {where}"), f"description of {where}", _DESCRIPTION_CHARS),
        None
        if value.mime is None
        else _limit(read_text(value.mime, f"mime of {where}"), f"mime of {where}", _MIME_CHARS),
        _read_size(value.size_bytes, f"size_bytes of {where}"),
        read_flag(value.is_template, f"is_template of {where}"),
    )


def _limit(text: str, where: str, limit_chars: int) -> str:
    if len(text) > limit_chars:
        raise WrongValueError(where, f"at most {limit_chars:,} characters", text)
    return text


def _read_size(value: Any, where: str) -> int | None:
    if value is not None and (type(value) is not int or value < 0):
        raise WrongValueError(where, "a whole number from 0, or None", value)
    return value
