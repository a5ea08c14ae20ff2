"""What pools add to the command line: options of `agentcore host`, and `agentcore hosts key`."""

import json
import re
from pathlib import Path

import click

from agentcore.api.host_kinds import HOST_NAME, HostKindError

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

OPTIONS = (
    click.Option(
        ["--pool"],
        metavar="POOL",
        help="Be one of this pool, which servers share over NATS: --server is then its NATS, nats:// or tls://.",
    ),
    click.Option(
        ["--key"], type=_FILE, metavar="FILE", help="Of a pool: the seed of the NKEY that NATS knows this by."
    ),
    click.Option(
        ["--capacity"],
        type=click.IntRange(1, 100_000),
        default=20,
        show_default=True,
        help="Of a pool: how many pages, terminals and the like may live here.",
    ),
    click.Option(
        ["--label", "labels"],
        multiple=True,
        metavar="LABEL",
        help="Of a pool: what servers can ask for, as `gpu`.",
    ),
)
"""The options of `agentcore host`."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--pool", metavar="POOL", required=True, help="The pool, as app.json calls it under hosts.")
@click.option("--name", metavar="NAME", help="The host that gets it.  [default: a server of the pool]")
@click.option("--existing", is_flag=True, help="FILE has a key already: print what NATS has to know of it now.")
def key(file: Path, *, as_json: bool, pool: str, name: str | None, existing: bool) -> None:
    """Make the key of a host of a pool, or of a server that uses it, and print what NATS has to know of it.

    The key itself is written to FILE, for its owner alone. What is printed belongs into the list `users` of NATS'
    configuration: it lets the key say and hear what is its own in this pool, and nothing else.

    \b
    Examples:
      agentcore hosts key box7.seed --pool farm --name box7
      agentcore hosts key server.seed --pool farm
    """
    from agentcore_nats_hosts.permissions import make_key, public_key_in, user_block  # noqa: PLC0415 - needs NKEYs

    for each in filter(None, (pool, name)):
        if not re.fullmatch(HOST_NAME, each):
            raise HostKindError(f"{each!r} cannot be a name: {HOST_NAME}")
    try:
        public = public_key_in(file) if existing else make_key(file)
    except (OSError, ValueError) as exc:
        raise HostKindError(str(exc)) from None
    block = user_block(pool, public, name)
    click.echo(json.dumps({"publicKey": public, "user": block}, indent=2) if as_json else block)
