"""`agentcore chat`: sends one message to a model, or starts an interactive conversation."""

import sys
from pathlib import Path

import click

from agentcore.approval_rules.decisions import APPROVAL_MODES
from agentcore.cli.commands.completion import complete_machine
from agentcore.cli.options import config_option, reserve_for_json
from agentcore.cli.terminal.exit_codes import CliError

_STDIN_BYTES = 2 * 1024 * 1024


@click.command()
@config_option
@click.option("--model", default="", metavar="NAME", help="The model: provider:model, or a name of app.json.")
@click.option("--agent", default="", metavar="ID", help="The agent of app.json whose instructions and tools hold.")
@click.option("--session", "session_id", default="", metavar="ID", help="Go on with a session.")
@click.option("-c", "--continue", "goes_on", is_flag=True, help="Go on with the session that was last used.")
@click.option("--mode", type=click.Choice(APPROVAL_MODES), help="Which calls of the model need approval.")
@click.option(
    "--host",
    default="",
    metavar="NAME",
    shell_complete=complete_machine,
    help="The host, or the pool, that its calls go to; `server` for the server.",
)
@click.option(
    "--attach",
    "attached",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file that goes with the message; may be given more than once.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=reserve_for_json,
    help="Print each event as a line of JSON, for programs.",
)
@click.argument("prompt", nargs=-1)
def chat(
    *,
    config_path: Path,
    model: str,
    agent: str,
    session_id: str,
    goes_on: bool,
    mode: str | None,
    host: str,
    attached: tuple[Path, ...],
    as_json: bool,
    prompt: tuple[str, ...],
) -> int:
    """Talk to a model that can call the tools.

    With PROMPT, one message is sent and its answer goes to stdout; `-` in it stands for stdin, which is also read
    when it is no terminal. Without PROMPT a conversation begins; type /help there.

    Calls of the model are shown with their arguments. In this terminal you approve those of a host in this very
    process; while a server runs, calls are approved at the server.

    \b
    Examples:
      agentcore chat
      agentcore chat "find every TODO in this folder and list them in TODO.md"
      git diff | agentcore chat "write a commit message for this:" - > message.txt
      agentcore chat --continue --mode ask_writes
      agentcore chat --host laptop
      agentcore chat --attach screenshot.png "what is wrong here?"
    """
    from agentcore.cli.conversation.client import SessionOptions
    from agentcore.cli.conversation.run import ChatRun

    text = _read_message(prompt)
    if text is None and as_json:
        raise CliError("--json needs a message", hint='agentcore chat --json "…"')
    options = SessionOptions(session_id, model, agent, mode or "", host)
    return ChatRun(config_path, options, text, goes_on=goes_on, as_json=as_json, attached=attached).run()


def _read_message(prompt: tuple[str, ...]) -> str | None:
    """Return the message from the command line and stdin; None to start an interactive conversation."""
    if not prompt:
        return None if sys.stdin.isatty() else _check_message(_read_stdin())
    return _check_message(" ".join(f"\n{_read_stdin()}\n" if word == "-" else word for word in prompt))


def _read_stdin() -> str:
    content = sys.stdin.buffer.read(_STDIN_BYTES + 1)
    if len(content) > _STDIN_BYTES:
        raise CliError(
            f"stdin has more than {_STDIN_BYTES} bytes",
            hint="put it into the workspace, and name the file to the model",
        )
    return content.decode("utf-8", "replace")


def _check_message(text: str) -> str:
    if not text.strip():
        raise CliError("there is no message: stdin is empty", hint='agentcore chat "…"')
    return text.strip()
