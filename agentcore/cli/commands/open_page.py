"""`agentcore open`: opens the page of the running server, logged in."""

from pathlib import Path

import click

from agentcore.cli.options import config_option


@click.command("open")
@config_option
@click.option("--print", "only_print", is_flag=True, help="Print the address instead of opening a browser.")
def open_page(config_path: Path, only_print: bool) -> None:
    """Open the page of the running server in a browser.

    The address carries a code that logs in once, within ten minutes. Whoever has it is let in: keep it to yourself.
    """
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_client import ServerClient
    from agentcore.cli.terminal.browser import open_browser
    from agentcore.cli.terminal.output import print_notice

    folder, info = required_server(config_path)
    client = ServerClient.from_state_dir(folder, info)
    code = client.post("/api/session/code")["code"]
    address = f"{client.address}/#code={code}"
    if only_print:
        click.echo(address)
    elif open_browser(folder, address):
        click.echo(f"Opened {client.address}/ in a browser.")
    else:
        print_notice("No browser could be started. Open this address, once, within ten minutes:")
        click.echo(address)
