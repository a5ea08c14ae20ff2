"""Blocks as people paste them, from what another program's documentation says: read strictly, and nothing is run."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcore.config import JsonPath, JsonSource, JsonSyntaxError, has_reference, without_comments
from agentcore.errors import ToolError
from agentcore.secrets import (
    IN_ENVIRONMENT,
    MASK,
    SecretSpan,
    is_secret_name,
    is_secret_value,
    is_secret_variable,
    secrets_inside,
)

BLOCKS = 50
"""Blocks of one paste."""

_NAME_CHARS = 60
_OTHERS = re.compile(r"[^a-z0-9]+")
_SCHEME = re.compile(r"((?:Bearer|Basic|Token) +)(.+)", re.IGNORECASE | re.DOTALL)
_OPTION = re.compile(r"(--?([A-Za-z][A-Za-z0-9_-]*)=)(.+)", re.DOTALL)
_KEY_LIKE = re.compile(
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|gh[a-z]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}"
    r"|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}|acap_[\w-]{20,}"
)


@dataclass(frozen=True)
class Pasted:
    """What a text holds.

    Args:
        family: The key of the family that it names itself; None: it names none.
        blocks: By key; the empty key is of a block that came without one.
        ignored: Other keys beside the family's.
    """

    family: str | None
    blocks: dict[str, dict[str, Any]] = field(repr=False)
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundSecret:
    """A value in a block that looks like a secret.

    Args:
        path: Where it stands in the block.
        name: What it could be called among the secrets.
        instead: What would stand in the block in its place.
    """

    path: JsonPath
    name: str
    value: str = field(repr=False)
    instead: str


def read_pasted(text: str, families: Collection[str]) -> Pasted:
    """Read `{"FAMILY": {KEY: BLOCK}}`, what is inside of it, or one block alone; comments may be in it.

    Args:
        families: The keys of families.
    Raises:
        ToolError: `invalid_block`: it is none of these.
    """
    try:
        source = JsonSource(without_comments(text))
    except JsonSyntaxError as exc:
        raise _refused(f"this is no JSON: {exc}") from exc
    value = source.value
    if not isinstance(value, dict) or not value:
        raise _refused('paste an object, such as {"NAME": {…}}')
    named = [key for key in value if key in families]
    if len(named) > 1:
        raise _refused(f"it has blocks of several families, {' and '.join(named)}; paste those of one")
    if named:
        ignored = tuple(key for key in value if key != named[0])
        return Pasted(named[0], _blocks(value[named[0]], named[0]), ignored)
    if all(isinstance(part, dict) for part in value.values()):
        return Pasted(None, _blocks(value, "the text"))
    return Pasted(None, {"": value})


def secrets_in(key: str, block: Mapping[str, Any], taken: Collection[str]) -> list[FoundSecret]:
    """The values of a block that look like secrets and stand there as they are.

    Args:
        key: The block's.
        taken: Names of secrets that are kept already.
    """
    used, found = set(taken), []
    for path, text, spans in _texts(block, ()):
        instead, at = "", 0
        for start, end, label in spans:
            name = _free(_named(key, label), used)
            used.add(name)
            instead += f"{text[at:start]}${{secret:{name}}}"
            at = end
            # of several in one text, each one says what stands there once it and those before it are moved
            found.append(FoundSecret(path, name, text[start:end], instead + text[end:]))
    return found


def _blocks(value: Any, where: str) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not value:
        raise _refused(f"{where} holds no blocks; it is to be an object of them")
    for key, block in value.items():
        if not isinstance(block, dict):
            raise _refused(f"{key!r} is no block; it is to be an object")
    if len(value) > BLOCKS:
        raise _refused(f"these are {len(value)} blocks; paste at most {BLOCKS} at a time")
    return value


def _texts(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, str, list[SecretSpan]]]:
    """Each text that holds secrets: its path, itself, and where they are in it."""
    if isinstance(value, dict):
        for key, part in value.items():
            if isinstance(part, str):
                yield (*path, key), part, _secrets_of(key, part)
            else:
                yield from _texts(part, (*path, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            before = value[at - 1] if at else ""
            is_option = (
                isinstance(before, str) and before.startswith("-") and "=" not in before
            )  # else it has its value
            label = before.lstrip("-") if is_option else ""
            if isinstance(part, str):
                yield (*path, at), part, _secrets_in_argument(label, part)
            else:
                yield from _texts(part, (*path, at))


def _secrets_of(label: str, text: str) -> list[SecretSpan]:
    if not text or text == MASK:
        return []
    if spans := secrets_inside(text):
        # a header that is named by its key, as a scheme alone is, keeps that name
        return [span._replace(name=label) if _SCHEME.fullmatch(text) else span for span in spans]
    if has_reference(text):
        return []
    scheme = _SCHEME.fullmatch(text)
    start = len(scheme[1]) if scheme else 0
    if is_secret_value(label, text, IN_ENVIRONMENT) or is_secret_variable(label, text) or _KEY_LIKE.search(text):
        return [SecretSpan(start, len(text), label)]
    return []


def _secrets_in_argument(label: str, text: str) -> list[SecretSpan]:
    option = _OPTION.fullmatch(text)
    if option and is_secret_name(option[2], IN_ENVIRONMENT) and not has_reference(text):
        return [SecretSpan(len(option[1]), len(text), option[2])]
    if text.startswith("-"):
        return secrets_inside(text)
    return _secrets_of(label, text)


def _named(key: str, label: str) -> str:
    own, name = (_OTHERS.sub("_", text.lower()).strip("_") for text in (key, label))
    name = name if not own or name.startswith(own) else f"{own}_{name or 'secret'}"
    name = name[:_NAME_CHARS].strip("_") or "secret"
    return name if name[0].isalpha() else f"_{name}"


def _free(name: str, used: Collection[str]) -> str:
    number, free = 2, name
    while free in used:
        number, free = number + 1, f"{name}_{number}"
    return free


def _refused(message: str) -> ToolError:
    return ToolError("invalid_block", message)
