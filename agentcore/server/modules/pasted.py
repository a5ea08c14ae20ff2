"""Blocks that users paste from another program's documentation: parsed strictly, and nothing is run."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import Any

from agentcore.config.comments import without_comments
from agentcore.config.json_source import JsonPath, JsonSource, JsonSyntaxError, format_path
from agentcore.config.references import has_secret
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.secrets import SecretSpan, WrittenSecrets, find_written_secrets, is_secret_argument

BLOCKS = 50
"""Maximum number of blocks in one paste."""

_NAME_CHARS = 60
_REFERENCE = re.compile(r"\$\{[^}]*\}")
_OTHERS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Pasted:
    """The content of a pasted text.

    Args:
        family: Key of the family that the text names; None: it names none.
        blocks: Blocks by key; the key is empty for a block without one.
        ignored: Other keys beside the family's.
    """

    family: str | None
    blocks: dict[str, dict[str, Any]] = field(repr=False)
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundSecret:
    """A value in a block that looks like a secret.

    Args:
        path: Its path in the block.
        name: A suggested name for it among the secrets.
        instead: The text that would replace it in the block.
    """

    path: JsonPath
    name: str
    value: str = field(repr=False)
    instead: str


def read_pasted(text: str, families: Collection[str]) -> Pasted:
    """Parse `{"FAMILY": {KEY: BLOCK}}`, its inner part, or a single block; comments are allowed.

    Args:
        families: The keys of families.
    Raises:
        ToolError: `invalid_block`: it is none of these.
    """
    try:
        source = JsonSource(without_comments(text))
    except JsonSyntaxError as exc:
        raise _invalid_block_error(f"this is no JSON: {exc}") from exc
    value = source.value
    if not isinstance(value, dict) or not value:
        raise _invalid_block_error('paste an object, such as {"NAME": {…}}')
    named = [key for key in value if key in families]
    if len(named) > 1:
        raise _invalid_block_error(f"it has blocks of several families, {' and '.join(named)}; paste those of one")
    if named:
        ignored = tuple(key for key in value if key != named[0])
        return Pasted(named[0], _validate_blocks(value[named[0]], named[0]), ignored)
    if all(isinstance(part, dict) for part in value.values()):
        return Pasted(None, _validate_blocks(value, "the text"))
    return Pasted(None, {"": value})


def secrets_in(
    key: str, block: Mapping[str, Any], taken: Collection[str], declared: Collection[str] = ()
) -> list[FoundSecret]:
    """Return the values of a block that look like secrets and are not references.

    Args:
        key: The block's key.
        taken: Names of secrets that are stored already.
        declared: Texts that are secrets because the model of the settings declares them so.
    """
    used = set(taken)
    found = []
    recognised = {written.path: written for written in find_written_secrets(block)}
    for path, text in _iterate_texts(block, ()):
        if text in declared and path not in recognised:
            recognised[path] = WrittenSecrets(path, text, [SecretSpan(0, len(text), str(path[-1]))])
    for path, text, spans in recognised.values():
        instead = ""
        at = 0
        for start, end, label in spans:
            name = _unused_name(_suggest_name(key, label), used)
            used.add(name)
            instead += f"{text[at:start]}${{secret:{name}}}"
            at = end
            # with several in one text, each shows the text after it and those before it have been replaced
            found.append(FoundSecret(path, name, text[start:end], instead + text[end:]))
    return found


def exposed_arguments(block: Mapping[str, Any]) -> list[JsonPath]:
    """Return the arguments of commands in a block that contain a secret, or a reference to one.

    Other users of the machine can see them in the list of processes while the command runs.
    """
    return [path for path, text, before in _arguments(block, ()) if _is_exposed(text, before)]


def exposure_warning(block: Mapping[str, Any]) -> str:
    """Return a sentence about the `exposed_arguments` of a block; empty: it has none."""
    paths = exposed_arguments(block)
    if not paths:
        return ""
    holds = "holds a secret" if len(paths) == 1 else "hold secrets"
    places = ", ".join(map(format_path, paths))
    return f"{places} {holds}, which other users of this machine can see while the command runs"


def _iterate_texts(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _iterate_texts(part, (*path, step))


def _arguments(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, str, str]]:
    """Yield the texts in all lists, each with the text before it."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _arguments(part, (*path, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            before = value[at - 1] if at else ""
            if isinstance(part, str):
                yield (*path, at), part, before if isinstance(before, str) else ""
            else:
                yield from _arguments(part, (*path, at))


def _is_exposed(text: str, before: str) -> bool:
    # a reference counts if a value in its place would count
    return has_secret(text) or is_secret_argument(_REFERENCE.sub("value", text), _REFERENCE.sub("value", before))


def _validate_blocks(value: Any, where: str) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not value:
        raise _invalid_block_error(f"{where} holds no blocks; it is to be an object of them")
    for key, block in value.items():
        if not isinstance(block, dict):
            raise _invalid_block_error(f"{key!r} is no block; it is to be an object")
    if len(value) > BLOCKS:
        raise _invalid_block_error(f"these are {len(value)} blocks; paste at most {BLOCKS} at a time")
    return value


def _suggest_name(key: str, label: str) -> str:
    own, name = (_OTHERS.sub("_", text.lower()).strip("_") for text in (key, label))
    name = name if not own or name.startswith(own) else f"{own}_{name or 'secret'}"
    name = name[:_NAME_CHARS].strip("_") or "secret"
    return name if name[0].isalpha() else f"_{name}"


def _unused_name(name: str, used: Collection[str]) -> str:
    number = 2
    free = name
    while free in used:
        number, free = number + 1, f"{name}_{number}"
    return free


def _invalid_block_error(message: str) -> ToolError:
    return ToolError("invalid_block", message)
