"""Tables of programs: which run other programs, and which calls of a program form one kind of action."""

import re
from collections.abc import Sequence

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9:_.-]*")

_PYTHON = re.compile(r"python3\.\d+")

SHELLS = frozenset(("ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"))
"""Programs that run a script: the text after `-c`, a file, or their input."""

KEYWORDS = frozenset(
    (
        *("!", "{", "}", "coproc", "do", "done", "elif", "else", "esac", "fi", "if", "then", "time", "until"),
        "while",
    )
)
"""Words of the shell in front of a command."""

WRAPPERS = {
    **dict.fromkeys(
        (
            *("builtin", "busybox", "caffeinate", "capsh", "chronic", "command", "cpulimit", "dbus-run-session"),
            *("doas", "entr", "env", "pkexec", "setpriv", "sshpass"),
            *("exec", "fakeroot", "firejail", "ionice", "ltrace", "nice", "nohup", "nsenter", "parallel", "prlimit"),
            *("proxychains", "proxychains4", "script", "setarch", "setsid", "stdbuf", "strace", "su", "sudo"),
            *("systemd-run", "time", "torify", "torsocks", "toybox", "trap", "unbuffer", "unshare", "watch", "xargs"),
            "xvfb-run",
        ),
        0,
    ),
    **dict.fromkeys(("autossh", "chroot", "chrt", "faketime", "flock", "gosu", "runcon", "runuser", "sg", "ssh"), 1),
    **dict.fromkeys(("su-exec", "taskset", "timeout"), 1),
}
"""Programs that run the program in their arguments, and how many operands are in front of it."""

APPENDING = frozenset(("parallel", "xargs"))
"""Wrappers that append arguments from their input."""

RUNNING_OPTIONS = {
    "find": frozenset(("-exec", "-execdir", "-ok", "-okdir")),
    "fd": frozenset(("-x", "-X", "--exec", "--exec-batch")),
    "fdfind": frozenset(("-x", "-X", "--exec", "--exec-batch")),
}
"""Programs with options that are followed by a command, which ends with `;` or `+`."""

_RUNNING_SUBCOMMANDS = {
    "conda hatch micromamba pdm pipenv poetry rye uv": {"run": 0},
    "bundle direnv mise npm pnpm": {"exec": 0},
    "docker podman": {"exec": 1, "run": 1},
    "kubectl oc": {"exec": 1},
}

RUNNING_SUBCOMMANDS = {
    program: operands for programs, operands in _RUNNING_SUBCOMMANDS.items() for program in programs.split()
}
"""Subcommands that run the program in their arguments, and how many operands are in front of it.

A rule that denies the program denies these, too. A rule that allows the subcommand allows all that it runs: that is
often a tool of the project, or in a container, and the user named the subcommand.
"""

LOOSE_WRAPPERS = frozenset(("bwrap", "expect", "hyperfine", "screen", "tmux", "wsl"))
"""Programs with subcommands or options of their own that may also run a program; these are treated in the same way."""

LINE_OPTIONS = {
    "env": ("-S", "--split-string"),
    "npx": ("-c", "--call"),
    "nix-shell": ("--run", "--command"),
    "pwsh": ("-c", "-Command"),
    "rsync": ("-e", "--rsh"),
    "tar": ("--to-command", "--checkpoint-action", "-I", "--use-compress-program"),
}
"""Options of programs whose value is a command line, beside it or after an equals sign."""

GIT_VALUES = frozenset(
    (
        *("-C", "-c", "--attr-source", "--config-env", "--exec-path", "--git-dir", "--namespace", "--super-prefix"),
        "--work-tree",
    )
)
"""Options of `git` in front of the subcommand that have a value of their own."""

HARMLESS_GIT_SECTIONS = frozenset(("advice", "color", "column", "i18n", "init", "log", "status", "user"))
"""Sections of git's configuration that cannot make it run a program."""

PROGRAM_FOLDERS = frozenset(("bin", "sbin", ".bin", "Scripts"))
"""Folders of installed programs; a program in another relative folder is a file of the workspace."""

SCRIPT_SUFFIXES = (".bash", ".ksh", ".sh", ".zsh")

_SUBCOMMANDS = {
    "apt": "install list search show update upgrade",
    "brew": "info install list search update upgrade",
    "bun": "add audit build ci info install list ls outdated pack remove start test update view why",
    "bundle": "add check install list update",
    "cargo": "add bench build check clippy doc fetch fmt install metadata run test tree update",
    "composer": "install remove require show update validate",
    "conda": "create env info install list search update",
    "deno": "bench cache check fmt info lint test",
    "docker podman": "build images inspect logs ps pull push start stats stop",
    "dotnet": "add build clean format list pack publish restore run test tool",
    "gh": "browse gist issue pr release repo run search status workflow",
    "git": (
        "add blame branch checkout cherry-pick commit describe diff fetch grep log ls-files merge pull push "
        "rebase remote reset restore rev-parse show stash status switch tag worktree"
    ),
    "go": "build fmt generate get install list mod test vet",
    "helm": "get install lint list repo search show status template upgrade",
    "kubectl": "apply describe diff explain get logs rollout top version",
    "mix": "compile credo deps format test",
    "npm pnpm yarn": "add audit ci info install list ls outdated pack remove start test update view why",
    "pip pip3": "check download freeze index install list show uninstall",
    "poetry": "add build check env install lock remove show update",
    "rails": "console db generate routes server test",
    "rustup": "component default show target toolchain update",
    "systemctl": "cat is-active is-enabled list-units restart show start status stop",
    "terraform": "apply fmt init output plan providers show state validate",
    "uv": "add build lock pip python remove sync tree venv",
}

SUBCOMMANDS = {
    program: frozenset(subcommands.split())
    for programs, subcommands in _SUBCOMMANDS.items()
    for program in programs.split()
}
"""Subcommands by program, of which all calls may be allowed at once. Any other word is an operand."""

NAMING_SUBCOMMANDS = frozenset(
    (
        *(("bun", "run"), ("deno", "task"), ("npm", "run"), ("pnpm", "run"), ("yarn", "run")),
        *(("docker", "compose"), ("podman", "compose")),
    )
)
"""Subcommands whose operand names the action, such as a script of the project."""

WHOLE_PROGRAMS = frozenset(
    (
        *("bandit", "black", "clang-format", "clang-tidy", "ctest", "eslint", "flake8", "golangci-lint", "isort"),
        *("jest", "mocha", "mypy", "phpunit", "playwright", "prettier", "pylint", "pyright", "pytest", "rspec"),
        *("rubocop", "ruff", "shellcheck", "stylelint", "tsc", "vitest", "vulture", "yamllint"),
    )
)
"""Programs that check or test a project, of which all calls may be allowed at once, whatever their arguments."""

WHOLE_PREFIXES = (
    ("python", "-m"),
    ("python3", "-m"),
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("npx",),
    ("bunx",),
    ("pnpm", "exec"),
    ("bundle", "exec"),
)
"""Words in front of one of `WHOLE_PROGRAMS` that only say how to start it."""


def _name_of_installed(word: str) -> str:
    """Return the name of a program in a folder of installed ones, such as `.venv/bin/pytest`, and any other word as is.

    `python3.12` counts as `python3`.
    """
    folder, _, name = word.rpartition("/")
    if folder.rpartition("/")[2] not in PROGRAM_FOLDERS or ".." in folder.split("/"):
        name = word
    return "python3" if _PYTHON.fullmatch(name) else name


def find_action(words: Sequence[str]) -> tuple[str, ...]:
    """Return the first words of a command that say what it does, whatever follows them; empty: the table has none.

    `git status -s` is `git status`, `pytest -q src` is `pytest`, and `rm build` has none: its operand is a file.
    """
    named = [_name_of_installed(word) for word in words[:3]]
    for prefix in ((), *WHOLE_PREFIXES):
        count = len(prefix)
        if tuple(named[:count]) == prefix and len(words) > count and named[count] in WHOLE_PROGRAMS:
            return tuple(words[: count + 1])
    if len(words) > 2 and tuple(words[:2]) in NAMING_SUBCOMMANDS and _NAME.fullmatch(words[2]):  # noqa: PLR2004
        return tuple(words[:3])
    if len(words) > 1 and words[1] in SUBCOMMANDS.get(words[0], ()):
        return tuple(words[:2])
    return ()
