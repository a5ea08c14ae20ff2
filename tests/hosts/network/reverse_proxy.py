"""A reverse proxy with TLS in front of a server, set up as `docs/reverse-proxy.md` has it."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from tests import programs
from tests.hosts.network.certificates import Certificates
from tests.hosts.network.machine import Network
from tests.hosts.network.relay import LOOPBACK

PAGE = Path(__file__).parents[3] / "docs" / "reverse-proxy.md"
NAMES = ("agent.example.com", "approve.example.com", "views.example.net")
"""Of the page, of the approval view and of tools' views, as the document has them."""
Kind = Literal["nginx", "caddy"]
_START_S = 60.0

DOCUMENTED = dict(zip(NAMES, (8765, 8766, 8767), strict=True))
"""The ports of the server that the document has."""

_AROUND_NGINX = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log stderr warn;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{documented}
}}
"""


def documented(language: str) -> str:
    """The block of a language that the document shows."""
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None, language
    return found[1]


def _nginx(folder: Path, port: int, ports: Mapping[str, int], certificates: Certificates, address: str) -> list[str]:
    text = documented("nginx")
    for old, new in (
        ("listen 443 ", f"listen {address}:{port} "),
        ("/etc/ssl/agentcore/fullchain.pem", str(certificates.chain)),
        ("/etc/ssl/agentcore/privkey.pem", str(certificates.key)),
        *((f" {DOCUMENTED[name]};", f" {ports[name]};") for name in ports),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    # as root its workers would be somebody who may not enter the folder of a test
    user = "user root;" if Path("/proc/self").stat().st_uid == 0 else ""
    file = folder / "nginx.conf"
    file.write_text(_AROUND_NGINX.format(folder=folder, user=user, documented=text), encoding="utf-8")
    return [programs.find("nginx") or "nginx", "-p", str(folder), "-c", str(file), "-e", "stderr"]


def _caddy(folder: Path, port: int, ports: Mapping[str, int], certificates: Certificates, address: str) -> list[str]:
    text = documented("caddy")
    for name, own in ports.items():
        old = f"{name} {{\n\treverse_proxy {LOOPBACK}:{DOCUMENTED[name]}\n}}\n"
        assert old in text, old
        tls = f"tls {certificates.chain} {certificates.key}"
        text = text.replace(old, f"{name}:{port} {{\n\tbind {address}\n\t{tls}\n\treverse_proxy {LOOPBACK}:{own}\n}}\n")
    # what is its own in a test: no administration, no certificates of the internet's
    file = folder / "Caddyfile"
    file.write_text(
        f"{{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}}\n{text}", encoding="utf-8"
    )
    return [programs.find("caddy") or "caddy", "run", "--adapter", "caddyfile", "--config", str(file)]


_KINDS = {"nginx": _nginx, "caddy": _caddy}


@asynccontextmanager
async def reverse_proxy(
    kind: Kind,
    folder: Path,
    port: int,
    ports: Mapping[str, int],
    certificates: Certificates,
    *,
    address: str = LOOPBACK,
    network: Network | None = None,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A proxy that takes connections, and of which nothing is left afterwards.

    Args:
        kind: Which program.
        folder: A new folder for its files.
        port: Where it listens, as in the names that the server was told.
        ports: Those of the server, by `NAMES`.
        certificates: For these names.
        address: Where it listens.
        network: The network in which it runs; None: that of the tests.
    """
    folder.mkdir()
    words = _KINDS[kind](folder, port, ports, certificates, address)
    if network is not None:
        words = list(network.command(*words))
    log = folder / "log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *words,
            env={"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin"},
            cwd=folder,
            stdout=output,
            stderr=output,
        )
    try:
        async with asyncio.timeout(_START_S):
            while not await _takes(address, port, network):
                assert process.returncode is None, log.read_text()
                await asyncio.sleep(0.05)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _takes(address: str, port: int, network: Network | None) -> bool:
    try:
        connecting = asyncio.open_connection if network is None else network.connect
        _, writer = await connecting(address, port)
    except OSError:
        return False
    writer.close()
    return True


def free_port() -> socket.socket:
    """A port that nobody else gets while this socket is open, and where a program can listen all the same."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((LOOPBACK, 0))
    return held
