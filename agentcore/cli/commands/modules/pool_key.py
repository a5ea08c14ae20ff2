"""`agentcore hosts key`: a key by which NATS lets a host, or a server, into a pool."""

from pathlib import Path

import click

from agentcore.cli.options import json_option
from agentcore.cli.terminal.exits import CliError


@click.command()
@json_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--pool", metavar="POOL", required=True, help="The pool, as app.json calls it under hosts.")
@click.option("--name", metavar="NAME", help="The host that gets it.  [default: a server of the pool]")
@click.option("--existing", is_flag=True, help="FILE has a key already: print what NATS has to know of it now.")
def key(file: Path, as_json: bool, pool: str, name: str | None, *, existing: bool) -> None:
    """Make the key of a host of a pool, or of a server that uses it, and print what NATS has to know of it.

    The key itself is written to FILE, for its owner alone. What is printed belongs into the list `users` of NATS'
    configuration: it lets the key say and hear what is its own in this pool, and nothing else.

    \b
    Examples:
      agentcore hosts key box7.seed --pool farm --name box7
      agentcore hosts key server.seed --pool farm
    """
    import re

    from agentcore.cli.terminal.output import print_json
    from agentcore.config import HOST_NAME
    from agentcore.hosts import KeyExists, make_key, public_key_in, user_block

    for each in filter(None, (pool, name)):
        if not re.fullmatch(HOST_NAME, each):
            raise CliError(f"{each!r} cannot be a name: {HOST_NAME}")
    try:
        public = public_key_in(file) if existing else make_key(file)
    except ImportError:
        raise CliError("NKEYs need a package more", hint="pip install 'agentcore-runtime[pool]'") from None
    except (KeyExists, OSError, ValueError) as exc:
        raise CliError(str(exc)) from None
    block = user_block(pool, public, name)
    if as_json:
        print_json({"publicKey": public, "user": block})
    else:
        click.echo(block)
