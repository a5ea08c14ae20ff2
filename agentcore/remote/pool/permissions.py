"""The keys of a pool: NKEYs by which NATS knows its hosts and servers, and what it lets each of them say and hear."""

import os
from pathlib import Path

from agentcore.errors import AgentcoreError
from agentcore.remote.pool.subjects import Subjects

_INDENT = "  "


class KeyExists(AgentcoreError):  # noqa: N818 - it says what is the case
    """A file is there already, and a key in it would be lost."""


def make_key(file: Path) -> str:
    """Write the seed of a new NKEY to a file (0600) that is not there yet; gives the public key, for NATS to know.

    Raises:
        KeyExists: The file is there.
        OSError: It cannot be written.
        ImportError: There is no package for it.
    """
    import nkeys  # type: ignore[import-untyped]  # noqa: PLC0415 - only pools need it

    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    public = nkeys.from_seed(bytearray(seed)).public_key
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise KeyExists(f"{file} is there already: give the name of a file that is not") from None
    with os.fdopen(descriptor, "wb") as kept:
        kept.write(bytes(seed) + b"\n")
    return str(public.decode() if isinstance(public, bytes) else public)


def user_block(pool: str, public_key: str, member: str | None) -> str:
    """A user of NATS' configuration with what it may do, for the list `authorization.users`.

    Args:
        member: The name of a host; None: a server of the pool.
    """
    publish, subscribe = _of_server(pool) if member is None else _of_member(pool, member)
    lines = [
        f"nkey: {public_key}",
        "permissions: {",
        f"{_INDENT}publish: [{', '.join(map(_quoted, publish))}]",
        f"{_INDENT}subscribe: [{', '.join(map(_quoted, subscribe))}]",
        *([] if member is None else [f"{_INDENT}allow_responses: true"]),
        "}",
    ]
    return "\n".join(["{", *(f"{_INDENT}{line}" for line in lines), "}"])


def _of_server(pool: str) -> tuple[list[str], list[str]]:
    subjects = Subjects(pool)
    return (
        [
            *(subjects.server(), subjects.open("*"), subjects.drain("*"), subjects.down("*", "*", "*")),
            subjects.place(()).replace(".any", ".*"),
            f"$KV.{subjects.leases}.>",
            "$JS.API.>",
        ],
        [subjects.alive(), subjects.up("*", "*", "*"), f"{subjects.answers()}.>"],
    )


def _of_member(pool: str, member: str) -> tuple[list[str], list[str]]:
    subjects = Subjects(pool)
    stream = f"OBJ_{subjects.kept}"
    return (
        [
            *(subjects.alive(member), subjects.up(member, "*", "*")),
            f"$O.{subjects.kept}.>",
            f"$JS.API.STREAM.*.{stream}",
            "$JS.API.STREAM.NAMES",  # by which the client finds the stream that it reads an object from
            *(f"$JS.API.{verb}.{stream}.>" for verb in ("STREAM.MSG.GET", "DIRECT.GET", "CONSUMER.CREATE")),
            *(f"$JS.API.{verb}.{stream}" for verb in ("STREAM.MSG.GET", "DIRECT.GET", "CONSUMER.CREATE")),
            *(f"$JS.API.CONSUMER.{verb}.{stream}.>" for verb in ("INFO", "DELETE", "DURABLE.CREATE")),
            "$JS.FC.>",
        ],
        [
            *(subjects.server(), subjects.open(member), subjects.drain(member), subjects.down(member, "*", "*")),
            subjects.place(()).replace(".any", ".*"),
            f"{subjects.answers(member)}.>",
        ],
    )


def _quoted(subject: str) -> str:
    return f'"{subject}"'
