"""Probes the sandbox: whether it can be set up on this machine, and whether it confines commands."""

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence

PROBE_SECONDS = 60.0
"""Time limit of each probe program in seconds, generous for a busy machine."""

_SHOWN = 5
# Opens each kernel file for writing and closes it without writing, to find those that a command could change.
_TRY_ALL = f"""
import os
open_flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
tried, writable = 0, []
ahead = ["/sys", *("/proc/" + name for name in os.listdir("/proc") if not name.isdigit())]
while ahead:
    path = ahead.pop()
    try:
        if os.path.islink(path):
            continue
        if os.path.isdir(path):
            ahead += [path + "/" + name for name in os.listdir(path)]
            continue
        if not os.stat(path).st_mode & 0o222:
            continue
        tried += 1
        os.close(os.open(path, open_flags))
        writable.append(path)
    except OSError:
        pass
with open("/proc/self/status") as status:
    capabilities = [line.split()[1] for line in status if line.startswith("CapEff")]
if int(capabilities[0], 16):
    writable.append("with the capabilities " + capabilities[0])
print(len(writable), tried, *writable[:{_SHOWN}], sep="\\n")
"""
_results: dict[tuple[str, ...], str] = {}
"""The cached result of probing each command line of a sandbox, for the lifetime of this process."""


async def find_failure(program: str, options: Sequence[str]) -> str:
    """Return why bubblewrap cannot set up this sandbox on this machine; empty if it can."""
    code, _, errors = await _run_program([program, *options, "--", shutil.which("true") or "/bin/true"])
    return "" if code == 0 else errors or f"{program} ended with {code}"


async def can_disable_namespaces(program: str) -> bool:
    """Return True if this bubblewrap can prevent commands from creating user namespaces (0.8 and later)."""
    _, output, errors = await _run_program([program, "--help"])
    return "--disable-userns" in output + errors


async def find_leaks(program: str, options: Sequence[str], *, is_confined: bool) -> str:
    """Describe how a command in this sandbox could change the kernel; empty if nothing was found.

    Tries to open each file below /proc and /sys whose mode allows writing. The result is cached for each sandbox.

    Args:
        program: The path of bubblewrap.
        options: The options that set up the sandbox.
        is_confined: True if commands cannot create user namespaces.
    """
    key = (program, *options)
    if key not in _results:
        _results[key] = await _try_all(program, options, is_confined=is_confined)
    return _results[key]


async def _try_all(program: str, options: Sequence[str], *, is_confined: bool) -> str:
    if os.geteuid() == 0 and not is_confined:
        return "the server runs as root, and bubblewrap is older than 0.8: commands could make namespaces of their own"
    base = sys.base_prefix
    seen = ("--ro-bind", base, base) if base != "/usr" else ()
    python = await asyncio.to_thread(os.path.realpath, getattr(sys, "_base_executable", sys.executable))
    code, output, errors = await _run_program([program, *options, *seen, "--", python, "-I", "-S", "-c", _TRY_ALL])
    lines = output.split("\n")
    if code != 0 or not lines[0].isdigit():
        return f"trying it failed: {errors or output or f'exit code {code}'}"
    if lines[0] == "0":
        return ""
    more = "" if int(lines[0]) <= _SHOWN else ", …"
    return f"commands in it could write {lines[0]} of the kernel's files: {', '.join(filter(None, lines[2:]))}{more}"


async def _run_program(command: Sequence[str]) -> tuple[int, str, str]:
    """Run a program, and return its exit code, output and errors."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath, "LANG": "C"},
        cwd="/",
    )
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            output, errors = await process.communicate()
    except TimeoutError:
        return 1, "", f"{command[0]} did not answer within {PROBE_SECONDS:g} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, output.decode(errors="replace").strip(), errors.decode(errors="replace").strip()
