"""The keys of a pool: NKEYs by which NATS knows its hosts and servers, and the permissions of each."""

import os
from pathlib import Path

from agentcore.api.host_kinds import HostKindError
from agentcore_nats_hosts.subjects import QUEUE, Subjects

_INDENT = "  "
_VERBS_OF_STREAM = (
    *("STREAM.CREATE", "STREAM.INFO", "STREAM.PURGE", "STREAM.MSG.GET", "STREAM.MSG.DELETE", "DIRECT.GET"),
    "CONSUMER.CREATE",
)
_VERBS_OF_CONSUMER = ("CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE", "CONSUMER.INFO", "CONSUMER.DELETE", "DIRECT.GET")


class KeyExists(HostKindError):  # noqa: N818 - it says what is the case
    """A file is there already, and a key in it would be lost."""


def make_key(file: Path) -> str:
    """Write the seed of a new NKEY to a new file (0600); return the public key, for the configuration of NATS.

    Raises:
        KeyExists: The file exists.
        OSError: It cannot be written.
    """
    import nkeys  # type: ignore[import-untyped]  # noqa: PLC0415 - only this command needs it

    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    public = nkeys.from_seed(bytearray(seed)).public_key
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise KeyExists(f"{file} is there already: give the name of a file that is not") from None
    with os.fdopen(descriptor, "wb") as kept:
        kept.write(bytes(seed) + b"\n")
    return str(public.decode() if isinstance(public, bytes) else public)


def public_key_in(file: Path) -> str:
    """The public key of a seed that a file has.

    Raises:
        OSError: It cannot be read.
        ValueError: It has no seed of a user.
    """
    import nkeys  # noqa: PLC0415 - only this command needs it

    try:
        public = nkeys.from_seed(bytearray(file.read_text().strip().encode())).public_key
    except nkeys.NkeysError as exc:
        raise ValueError(f"{file} has no seed of an NKEY: {exc}") from None
    return str(public.decode() if isinstance(public, bytes) else public)


def user_block(pool: str, public_key: str, member: str | None) -> str:
    """Return a user of NATS' configuration with its permissions, for the list `authorization.users`.

    Args:
        member: The name of a host; None: a server of the pool.
    """
    publish, subscribe = _server_permissions(pool) if member is None else _host_permissions(pool, member)
    lines = [
        f"nkey: {public_key}",
        "permissions: {",
        f"{_INDENT}publish: [{', '.join(map(_quote_subject, publish))}]",
        f"{_INDENT}subscribe: [{', '.join(map(_quote_subject, subscribe))}]",
        "}",
    ]
    return "\n".join(["{", *(f"{_INDENT}{line}" for line in lines), "}"])


def _server_permissions(pool: str) -> tuple[list[str], list[str]]:
    subjects = Subjects(pool)
    streams = f"KV_{subjects.leases_bucket}", f"OBJ_{subjects.storage_bucket}"
    return (
        [
            *(
                subjects.server_subject(),
                subjects.open_link_subject("*"),
                subjects.drain_subject("*"),
                subjects.down_subject("*", "*", "*"),
            ),
            _all_placement_subjects(subjects),
            f"$KV.{subjects.leases_bucket}.>",
            f"$O.{subjects.storage_bucket}.>",
            # the pool's own streams alone, which servers make; by names the client finds the stream of an object
            *(f"$JS.API.{verb}" for verb in ("INFO", "STREAM.NAMES")),
            *(f"$JS.API.{verb}.{stream}" for stream in streams for verb in _VERBS_OF_STREAM),
            *(f"$JS.API.{verb}.{stream}.>" for stream in streams for verb in _VERBS_OF_CONSUMER),
            "$JS.FC.>",
        ],
        [subjects.alive_subject(), subjects.up_subject("*", "*", "*"), f"{subjects.inbox_prefix()}.>"],
    )


def _host_permissions(pool: str, member: str) -> tuple[list[str], list[str]]:
    """Return what a host may publish and subscribe to: its subjects contain its own name, and none is JetStream's.

    It may not reply where a request says, either (`allow_responses`), because the sender of such a reply is unknown.
    A program with access to JetStream can choose where the reply goes, and with it impersonate another: a stored
    message, a consumer's delivery or a stream's copy could reach any host as a `tool.call`. So servers store for it.
    """
    subjects = Subjects(pool)
    return (
        [subjects.alive_subject(member), subjects.up_subject(member, "*", "*")],
        [
            *(
                subjects.server_subject(),
                subjects.open_link_subject(member),
                subjects.drain_subject(member),
                subjects.down_subject(member, "*", "*"),
            ),
            f"{_all_placement_subjects(subjects)} {QUEUE}",  # only in its queue group: one host gets it
            f"{subjects.inbox_prefix(member)}.>",
        ],
    )


def _all_placement_subjects(subjects: Subjects) -> str:
    return subjects.placement_subject(()).replace(".any", ".*")


def _quote_subject(subject: str) -> str:
    return f'"{subject}"'
