"""Run `make test` as on a bare machine: as an ordinary user, in a new clone, without the programs that some tests need.

Tests that stay in one process are left out: they start no program, and run elsewhere.

Usage, as root on Linux: python3 .ci/bare_machine.py [--below FOLDER] [--show PROGRAM]... [ARGS OF PYTEST...]

Chromium, bubblewrap, ripgrep, Xvfb, NATS, nginx, git, node and all others of tests/programs.py are hidden in a mount
namespace of its own; this machine's files stay as they are. The user exists in that namespace alone, and has an empty
home folder and an environment that names nothing. The server's usual port is taken meanwhile.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSIDE = "AGENTCORE_BARE_MACHINE"
USER = "ordinary"
PATH = "/usr/local/bin:/usr/bin:/bin"
FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin")
ALSO_HIDDEN = {"npm", "npx", "chromium-headless-shell"}
PASSED_ON = (
    "PIP_",
    "UV_",
    "SSL_CERT",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""Variables by which packages are found."""
PORT = 8765


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command that has to succeed."""
    return subprocess.run(command, check=True, text=True, **options)  # type: ignore[call-overload, no-any-return]


def make_clone(folder: Path) -> Path:
    """Clone the repository into a folder, with the changes that are not committed."""
    clone = folder / "agentcore"
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, clone)
    listed = run(
        "git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", stdout=subprocess.PIPE
    )
    names = {name for name in listed.stdout.split("\0") if name}
    for path in [path for path in clone.rglob("*") if path.is_file() and ".git" not in path.parts]:
        if not (ROOT / path.relative_to(clone)).exists():
            path.unlink()
    for name in names:
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    return clone


def hide_programs(names: set[str], work: Path) -> None:
    """Remove programs from what this mount namespace shows of the folders of programs."""
    for number, folder in enumerate(dict.fromkeys(Path(each).resolve() for each in FOLDERS)):
        there = [name for name in names if os.path.lexists(folder / name)]
        if not there:
            continue
        upper, scratch = work / f"upper{number}", work / f"work{number}"
        upper.mkdir()
        scratch.mkdir()
        run("mount", "-t", "overlay", "-o", f"lowerdir={folder},upperdir={upper},workdir={scratch}", "overlay", folder)
        for name in there:
            (folder / name).unlink()


def add_user(home: Path, work: Path) -> int:
    """Add a user to what this mount namespace shows of the machine's users; their number."""
    taken = {int(line.split(":")[2]) for line in Path("/etc/passwd").read_text().splitlines() if line.count(":") > 2}
    number = next(candidate for candidate in range(12000, 60000) if candidate not in taken)
    for file, line in (
        ("passwd", f"{USER}:x:{number}:{number}:{USER}:{home}:/bin/bash"),
        ("group", f"{USER}:x:{number}:"),
    ):
        copy = work / file
        copy.write_text(Path("/etc", file).read_text() + line + "\n")
        run("mount", "--bind", copy, f"/etc/{file}")
    return number


def main() -> int:
    """Run the tests; the exit code is theirs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--below", default="/tmp", help="where the clone is made (default: /tmp)")
    parser.add_argument("--show", action="append", default=[], help="a program that is not hidden")
    options, arguments = parser.parse_known_args()
    if INSIDE not in os.environ:
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
        return subprocess.run(command, check=False, env={**os.environ, INSIDE: "1"}).returncode
    sys.path.insert(0, str(ROOT))
    from tests import programs  # noqa: PLC0415 - found from here on

    work = Path("/mnt")  # in this mount namespace alone
    run("mount", "-t", "tmpfs", "tmpfs", work)
    with tempfile.TemporaryDirectory(prefix="bare-", dir=options.below) as folder, socket.socket() as taken:
        home = Path(folder, "home")
        temporary = Path(folder, "tmp")
        home.mkdir()
        temporary.mkdir()
        clone = make_clone(home)
        number = add_user(home, work)
        hide_programs({*programs.program_names(), *ALSO_HIDDEN} - set(options.show), work)
        run("chown", "-R", f"{number}:{number}", home, temporary)
        Path(folder).chmod(0o755)
        try:
            taken.bind(("127.0.0.1", PORT))
            taken.listen()
        except OSError:
            pass  # somebody else has it
        environment = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
        environment |= {
            "HOME": str(home),
            "USER": USER,
            "LOGNAME": USER,
            "PATH": PATH,
            "LANG": "C.UTF-8",
            "TMPDIR": str(temporary),
        }
        as_user = ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups", "--no-new-privs"]
        make = ["make", "--no-print-directory", "test", f"ARGS=-m 'not more and not one_process' {' '.join(arguments)}"]
        return subprocess.run(
            [*as_user, *make], check=False, cwd=clone, env=environment, stdin=subprocess.DEVNULL
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
