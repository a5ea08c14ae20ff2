"""A second machine, as far as its network goes: behind a router with NAT, and nothing reaches in.

Three networks, each with a process that holds it: the machine (10.77.0.2), its router (10.77.0.1, and 203.0.113.7
towards the internet), and the internet (203.0.113.10), in which a test listens for what comes from the machine. Nothing
of it touches the network of the computer that the tests run on. A holder ends when the test process does, however that
ends, and with it go its network and, of the machine, all processes: they have process ids of their own.
"""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from ctypes import CDLL, get_errno
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

MACHINE, ROUTER, ROUTER_OUTSIDE, INTERNET = "10.77.0.2", "10.77.0.1", "203.0.113.7", "203.0.113.10"
_NEW_NETWORK = 0x4000_0000
_HOLD = """
import signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what nobody waits for is no zombie: this is process 1
print(flush=True)
sys.stdin.read()
"""
_RULES = f"""
table ip nat {{
    chain leaving {{ type nat hook postrouting priority 100; oifname "wan" masquerade; }}
}}
table ip filter {{
    chain cable {{ type filter hook prerouting priority -400; policy accept; }}
    chain into {{
        type filter hook input priority 0; policy drop;
        ct state established,related accept
        iifname {{ "lan", "lo" }} accept
    }}
    chain through {{
        type filter hook forward priority 0; policy drop;
        ct state established,related accept
        iifname "lan" ip saddr {MACHINE} jump allowed
    }}
    chain allowed {{ accept; }}
}}
"""
_OWN_HOSTS = "mount -t tmpfs none /mnt && cat /etc/hosts - > /mnt/hosts && mount --bind /mnt/hosts /etc/hosts"
_T = TypeVar("_T")


@cache
def reason_against() -> str:
    """Why there can be no such machine here; empty: there can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "another machine's network needs Linux and root"
    if missing := [name for name in ("ip", "nft", "nsenter", "unshare") if shutil.which(name) is None]:
        return f"another machine's network needs {', '.join(missing)}"
    tried = subprocess.run(
        ["unshare", "--net", "nft", "-f", "-"], input=_RULES.encode(), capture_output=True, check=False
    )
    return "" if tried.returncode == 0 else "this kernel lets nobody make networks with NAT"


class Network:
    """A network that a process holds, and programs and sockets in it."""

    def __init__(self, holder: asyncio.subprocess.Process, pid: int, *, is_machine: bool) -> None:
        self._holder, self.pid, self._is_machine = holder, pid, is_machine

    @classmethod
    async def open(cls, *, is_machine: bool = False) -> "Network":
        """Make one.

        Args:
            is_machine: Whether it has its own processes and files of `/etc`, too.
        """
        kinds = ["--net", *(("--mount", "--pid", "--mount-proc", "--fork", "--kill-child") if is_machine else ())]
        holder = await asyncio.create_subprocess_exec(
            *("unshare", *kinds, sys.executable, "-I", "-S", "-c", _HOLD),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert holder.stdout is not None
        assert await holder.stdout.readline(), "the network could not be made"
        return cls(holder, only_child(holder.pid) if is_machine else holder.pid, is_machine=is_machine)

    async def close(self) -> None:
        """End it; where it is a machine, return once all that ran on it is gone."""
        assert self._holder.stdin is not None
        self._holder.stdin.close()
        await self._holder.wait()

    def command(self, *words: str) -> tuple[str, ...]:
        """A command that runs another one in it."""
        kinds = ("--net", "--mount", "--pid") if self._is_machine else ("--net",)
        return ("nsenter", f"--target={self.pid}", *kinds, "--", *words)

    async def run(self, *words: str, given: str = "") -> str:
        """What a command in it wrote, which has to succeed."""
        process = await asyncio.create_subprocess_exec(
            *self.command(*words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(given.encode())
        assert process.returncode == 0, (words, err.decode())
        return out.decode()

    def listener(self, address: str, port: int = 0) -> socket.socket:
        """A socket of this process that listens in that network."""
        return self._inside(lambda: socket.create_server((address, port)))

    async def connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection of this process that begins in that network."""
        made = self._inside(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        made.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(made, (host, port))
            return await asyncio.open_connection(sock=made)
        except BaseException:
            made.close()
            raise

    def _inside(self, act: Callable[[], _T]) -> _T:
        """Do something in that network, in a thread of its own: a network is a thread's."""
        done: list[_T] = []
        failed: list[BaseException] = []

        def enter_and_act() -> None:
            try:
                with open(f"/proc/{self.pid}/ns/net") as namespace:
                    if CDLL(None, use_errno=True).setns(namespace.fileno(), _NEW_NETWORK) != 0:
                        raise OSError(get_errno(), "setns")
                done.append(act())
            except BaseException as exc:
                failed.append(exc)

        thread = threading.Thread(target=enter_and_act)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return done[0]


class OtherMachine:
    """The machine, its router, and the internet between it and the server.

    Attributes:
        network: The machine's own; another one after each `boot`.
    """

    network: Network

    def __init__(self, router: Network, internet: Network) -> None:
        self.router, self.internet = router, internet
        self._hosts = ""

    async def boot(self) -> None:
        """Have it there, and connected to its router, with nothing running."""
        self.network = await Network.open(is_machine=True)
        await self.network.run("ip", "link", "set", "lo", "up")
        await _link(self.router, "lan", ROUTER, self.network, "eth0", MACHINE)
        await self.network.run("ip", "route", "add", "default", "via", ROUTER)
        await self.network.run("sh", "-c", _OWN_HOSTS, given=self._hosts)

    async def lose_power(self) -> None:
        """End all that runs on it at once, and its network: it takes leave of nobody."""
        await self.router.run("sh", "-c", "ip link delete lan || true")
        await self.network.close()

    async def start(self, *words: str, env: Mapping[str, str], cwd: Path, **options: Any) -> asyncio.subprocess.Process:
        """Start a program on it. What is signalled is its `only_child`: the process here only waits for that."""
        # who enters a network with files of its own stands at their root
        there = ("sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *words)
        return await asyncio.create_subprocess_exec(*self.network.command(*there), env=env, **options)

    async def name(self, address: str, *names: str) -> None:
        """Let names lead to an address, on this machine."""
        line = f"{address} {' '.join(names)}\n"
        self._hosts += line
        await self.network.run("sh", "-c", "cat >> /etc/hosts", given=line)

    async def unplug(self) -> None:
        """Lose each packet, both ways: no end of a connection hears anything."""
        await self.router.run("nft", "add rule ip filter cable drop")

    async def plug_in(self) -> None:
        """Let packets pass again."""
        await self.router.run("nft", "flush chain ip filter cable")

    async def close_router(self) -> None:
        """Let the machine reach its router alone, as where a proxy there is the only way out."""
        await self.router.run("nft", "flush chain ip filter allowed")


def only_child(pid: int) -> int:
    """The one process that another has started and waits for."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


async def _link(left: Network, name: str, address: str, right: Network, other: str, opposite: str) -> None:
    """Join two networks; the left one sees the processes of both."""
    await left.run("ip", "link", "add", name, "type", "veth", "peer", "name", other, "netns", str(right.pid))
    for network, device, own in ((left, name, address), (right, other, opposite)):
        await network.run("ip", "address", "add", f"{own}/24", "dev", device)
        await network.run("ip", "link", "set", device, "up")


@asynccontextmanager
async def other_machine() -> AsyncIterator[OtherMachine]:
    """A machine behind NAT; nothing of it is left afterwards."""
    networks: list[Network] = []
    try:
        networks.append(router := await Network.open())
        networks.append(internet := await Network.open())
        for network in networks:
            await network.run("ip", "link", "set", "lo", "up")
        await _link(router, "wan", ROUTER_OUTSIDE, internet, "net", INTERNET)
        await router.run("nft", "-f", "-", given=_RULES)
        await router.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        machine = OtherMachine(router, internet)
        await machine.boot()
        try:
            yield machine
        finally:
            await machine.lose_power()
    finally:
        for network in networks:
            await network.close()
