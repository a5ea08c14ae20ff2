"""Root of the command line: the table of commands, and the handling of errors and exit codes."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from agentcore import __version__
from agentcore.cli.added_commands import RootGroup
from agentcore.cli.lazy import LazyCommand
from agentcore.cli.terminal.exit_codes import ExitCode, to_cli_error
from agentcore.plain_structlog import import_without_extras

_COMMANDS = {
    "serve": LazyCommand("agentcore.cli.commands.serve:serve", "Start the server."),
    "open": LazyCommand("agentcore.cli.commands.open_page:open_page", "Open the page of the running server."),
    "init": LazyCommand("agentcore.cli.commands.init:init", "Write an app.json that lists the installed modules."),
    "chat": LazyCommand("agentcore.cli.commands.chat:chat", "Talk to a model that can call the tools."),
    "call": LazyCommand("agentcore.cli.commands.call:call", "Call a tool."),
    "tools": LazyCommand("agentcore.cli.commands.tools:tools", "List tools, or show one."),
    "skills": LazyCommand("agentcore.cli.commands.skills:skills", "List skills, or show one."),
    "modules": LazyCommand(
        "agentcore.cli.commands.modules.modules:modules", "List, enable, disable and reload modules."
    ),
    "hosts": LazyCommand(
        "agentcore.cli.commands.modules.hosts:hosts",
        "List hosts, in which modules run; restart, drain, pair and forget them.",
    ),
    "host": LazyCommand("agentcore.cli.commands.host:host", "Offer this machine's modules to a server elsewhere."),
    "approvers": LazyCommand(
        "agentcore.cli.commands.approvers:approvers", "Pair, list and revoke clients that act for you."
    ),
    "mcp": LazyCommand("agentcore.cli.commands.mcp:mcp", "Speak MCP on stdin and stdout, for clients that start it."),
    "connect": LazyCommand("agentcore.cli.commands.connect:connect", "Give the tools to another agent's client."),
    "disconnect": LazyCommand(
        "agentcore.cli.commands.connect:disconnect", "Take agentcore out of a client's configuration."
    ),
    "config": LazyCommand("agentcore.cli.commands.config:config", "Show the configuration, or its JSON Schema."),
    "secrets": LazyCommand("agentcore.cli.commands.secrets:secrets", "Set, list and remove secrets for settings."),
    "approvals": LazyCommand(
        "agentcore.cli.commands.approvals:approvals", "Tell why a call is asked about; try rules."
    ),
    "audit": LazyCommand("agentcore.cli.commands.audit:audit", "List, show, verify and export the record of calls."),
    "logs": LazyCommand("agentcore.cli.commands.logs:logs", "Show the log of the server."),
    "doctor": LazyCommand("agentcore.cli.commands.doctor:doctor", "Look for what is missing or wrong."),
    "stop": LazyCommand("agentcore.cli.commands.stop:stop", "Emergency stop: end all calls of the running server."),
    "completion": LazyCommand("agentcore.cli.commands.completion:completion", "Print a shell's completion script."),
}
_FORMER_NAMES = {"agent": "host"}
"""Former names of commands to current ones; each still works for one release."""


@click.group(
    cls=RootGroup,
    lazy=_COMMANDS,
    former_names=_FORMER_NAMES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done · 1 the call failed · 2 usage or configuration · 3 no server, or its state is locked"
    " · 130 interrupted.",
)
@click.version_option(__version__, message="agentcore %(version)s")
@click.option("-v", "--verbose", is_flag=True, help="Show the log of a host in this process, with tracebacks.")
def root(verbose: bool) -> None:
    """A tool runtime for AI agents: modules bring tools, every surface offers them.

    With a server running for the app.json in this folder, commands go to it; else they run on their own.

    \b
    Examples:
      agentcore init                                write an app.json here
      agentcore serve --open                        start the server and open its page
      agentcore tools                               see what can be called
      agentcore call weather_now city=Bonn          call a tool, here one of a module `weather`
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    Args:
        arguments: The arguments without the program's name. None: those of the process.
    """
    # Stop pydantic from importing every installed package that declares itself a plugin: none is listed, and it is slow
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    import_without_extras()
    try:
        code = _run_command(arguments)
    except Exception:  # noqa: BLE001 - a defect; a thread that a module has left must not hold the end here either
        sys.excepthook(*sys.exc_info())
        code = ExitCode.CALL_FAILED
    if "agentcore.core.module_code.process_exit" in sys.modules:  # modules may have run in this process
        from agentcore.core.module_code.process_exit import exit_process

        exit_process(code)
    sys.exit(code)


def _run_command(arguments: Sequence[str] | None) -> int:
    try:
        code = root.main(arguments, prog_name="agentcore", standalone_mode=False)
    except click.ClickException as exc:
        exc.show()
        return exc.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except Exception as exc:
        error = to_cli_error(exc)
        if error is None:
            raise
        error.show()
        return error.exit_code
    return code if isinstance(code, int) else ExitCode.OK
