"""`agentcore open`: opens the page of the running server, logged in."""

from pathlib import Path

import click

from agentcore.cli.options import config_option


@click.command("open")
@config_option
@click.option("--print", "only_print", is_flag=True, help="Print the address instead of opening a browser.")
@click.option(
    "--approve",
    is_flag=True,
    help="Log the browser in to the approval view as well, with a code: of --approver-code-file, else the one that you "
    "type. A browser that can approve makes one with “Log in another browser”, the server's terminal with `code`.",
)
@click.option(
    "--approver-code-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The file that `agentcore serve --approver-code-file` wrote. It is removed, because its code works once.",
)
def open_page(config_path: Path, only_print: bool, approve: bool, approver_code_file: Path | None) -> None:
    """Open the page of the running server in a browser.

    The address contains one-time codes, valid for ten minutes. Anyone who has it can log in: keep it to yourself.
    """
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_client import ServerClient
    from agentcore.cli.terminal.browser import open_browser
    from agentcore.cli.terminal.output import print_notice

    folder, info = required_server(config_path)
    client = ServerClient.from_state_dir(folder, info)
    approval_code = _read_code(approver_code_file) if approve or approver_code_file is not None else ""
    code = client.post("/api/session/code")["code"]
    address = f"{client.address}/#code={code}"
    if approval_code:  # the approval view opens first, then redirects to the page
        address = f"{info.addresses['approval']}/#code={approval_code}&page={code}"
    if approver_code_file is not None:
        approver_code_file.unlink(missing_ok=True)
    if only_print:
        click.echo(address)
    elif open_browser(folder, address):
        click.echo(f"Opened {client.address}/ in a browser.")
    else:
        print_notice("No browser could be started. Open this address, once, within ten minutes:")
        click.echo(address)


def _read_code(file: Path | None) -> str:
    """Return a code for the approval view. The API token cannot create one: anyone who reads it could then approve."""
    from agentcore.cli.backend.approver_client import code_in
    from agentcore.cli.terminal.exit_codes import CliError

    text = click.prompt("Log-in code", err=True) if file is None else file.read_text("utf-8", "replace")
    code = code_in(text)
    if not code:
        raise CliError(
            f"there is no log-in code in {file or 'what was typed'}",
            hint="start the server with --approver-code-file, or have a browser that can approve make a code",
        )
    return code
