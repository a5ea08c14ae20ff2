"""Which programs a command line runs, also through other programs, as far as that is known before it runs."""

import re
from dataclasses import field
from functools import lru_cache
from itertools import pairwise

from agentcore.approval_rules.programs import (
    APPENDING,
    GIT_VALUES,
    HARMLESS_GIT_SECTIONS,
    KEYWORDS,
    LINE_OPTIONS,
    LOOSE_WRAPPERS,
    PROGRAM_FOLDERS,
    RUNNING_OPTIONS,
    RUNNING_SUBCOMMANDS,
    SCRIPT_SUFFIXES,
    SHELLS,
    WRAPPERS,
)
from agentcore.approval_rules.shell_syntax import DEPTH, UNKNOWN, ShellReader
from agentcore.late_dataclasses import dataclass

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_COMMANDS = 500
_TOTAL_CHARS = 1_000_000
_OPTIONS = 8
"""Options in front of a command or subcommand of which each may have a value of its own."""
_SHELL_SCRIPT_OPTION = re.compile(r"[-+][A-Za-z]*c[A-Za-z]*")
_SHELL_SETTING = re.compile(r"[-+][A-Za-z]*[oO]")
_SHELL_VALUES = frozenset(("--init-file", "--rcfile"))
_REPORTING = frozenset(("--help", "--version", "-V"))


@dataclass(frozen=True, slots=True)
class InnerCommand:
    """A command that another command runs.

    Args:
        words: Its words.
        start: Which word of the outer command it begins with.
    """

    words: tuple[str, ...]
    start: int


@dataclass(slots=True)
class RunPrograms:
    """The programs that a command line runs.

    Attributes:
        commands: The words of each command, without assignments and without the folder of the program; a command whose
            options are in front of its subcommand is listed without these, too.
        is_resolved: False if it also runs what only the shell or a file knows.
    """

    commands: list[tuple[str, ...]] = field(default_factory=list)
    is_resolved: bool = True
    _chars: int = 0

    def read_line(self, text: str, depth: int = 0) -> None:
        """Record each program that a command line runs."""
        reader = ShellReader(text, depth)
        reader.read()
        self.is_resolved = self.is_resolved and reader.is_complete
        for words in reader.commands:
            self.add_command(words, depth)

    def add_command(self, words: list[str], depth: int) -> None:
        """Add a command and what it runs."""
        words = _strip_prefix(words)
        self._chars += sum(map(len, words))
        if not words:
            return
        if depth > DEPTH or len(self.commands) >= _COMMANDS or self._chars > _TOTAL_CHARS:
            self.is_resolved = False
            return
        program = _program_of(words)
        self.commands.append((program, *words[1:]))
        if UNKNOWN in words[0] or not _is_resolved(program, words):
            self.is_resolved = False
        if program not in WRAPPERS and program not in SHELLS:
            self.commands += [(program, *words[start:]) for start in _operand_starts(program, words) if start > 1]
        for inner in inner_commands(words):
            self.add_command(list(inner.words), depth + 1)
        for text in inner_lines(words):
            self.is_resolved = self.is_resolved and UNKNOWN not in text
            self.read_line(text, depth + 1)
        self._add_visible(words, depth)

    def _add_visible(self, words: list[str], depth: int) -> None:
        """Add what a rule that denies should find, though a rule that allows the outer command covers it."""
        is_resolved = self.is_resolved
        for inner in _commands_of_subcommand(words):
            self.add_command(inner, depth + 1)
        for text in _lines_in_options(words):
            self.read_line(text, depth + 1)
        self.is_resolved = is_resolved


@lru_cache(maxsize=64)
def find_programs(command: str) -> RunPrograms:
    """Return what a command line runs. The result is shared: do not change it."""
    found = RunPrograms()
    found.read_line(command)
    return found


def inner_commands(words: list[str]) -> list[InnerCommand]:
    """Return the commands in the arguments of a command; where it is unclear which word begins one, each that may."""
    program = _program_of(words)
    if program in RUNNING_OPTIONS:
        return _commands_after_options(words, RUNNING_OPTIONS[program])
    if program not in WRAPPERS:
        return []
    found = []
    for start in _operand_starts(program, words):
        if start < len(words):
            found.append(InnerCommand(tuple(words[start:]), start))
            if program in APPENDING:
                found.append(InnerCommand((*words[start:], UNKNOWN), start))
    return found


def _commands_after_options(words: list[str], options: frozenset[str]) -> list[InnerCommand]:
    found = []
    for at, word in enumerate(words):
        if word in options:
            end = next((end for end in range(at + 1, len(words)) if words[end] in (";", "+")), len(words))
            inner = tuple(UNKNOWN if "{}" in each else each for each in words[at + 1 : end])
            if inner:
                found.append(InnerCommand(inner, at + 1))
    return found


def _commands_of_subcommand(words: list[str]) -> list[list[str]]:
    """Return the commands that a subcommand runs, such as `uv run` and `docker exec`."""
    program = _program_of(words)
    if program in LOOSE_WRAPPERS:
        return [words[start:] for start in _operand_starts("", words, _OPTIONS)]
    running = RUNNING_SUBCOMMANDS.get(program, {})
    at = next((at for at, word in enumerate(words) if at and word in running), None)
    if at is None:
        return []
    rest = words[at:]
    return [rest[start:] for start in _operand_starts("", rest, running[words[at]])]


def _lines_in_options(words: list[str]) -> list[str]:
    """Return the command lines in options of a command, and in the aliases that it defines."""
    program = _program_of(words)
    if program == "alias":
        return [word.partition("=")[2] for word in words[1:] if "=" in word]
    if program in LOOSE_WRAPPERS:
        return [word for word in words[1:] if " " in word][:_OPTIONS]
    lines = []
    for option in LINE_OPTIONS.get(program, ()):
        lines += [after for word, after in pairwise(words) if word == option]
        # a short option may have its value right behind it, a long one after an equals sign
        start = f"{option}=" if option.startswith("--") else option
        lines += [word.removeprefix(start) for word in words[1:] if word.startswith(start) and word != option]
    return lines[:_OPTIONS]


def _operand_starts(program: str, words: list[str], extra: int | None = None) -> list[int]:
    """Return the numbers of the words that may be the first operand that matters: a subcommand, or an inner program."""
    if extra is None:
        extra = WRAPPERS.get(program, 0)
    starts: list[int] = []
    options = 0
    at = 1
    while at < len(words) and len(starts) <= extra + min(options, _OPTIONS):
        word = words[at]
        if program == "git" and word in GIT_VALUES:
            at += 2
        elif word == "--":
            at += 1
        elif word.startswith("-") and len(word) > 1:
            options += program != "git" and "=" not in word
            at += 1
        elif program in WRAPPERS and _ASSIGNMENT.match(word):
            at += 1
        else:
            starts.append(at)
            at += 1
    return starts


def inner_lines(words: list[str]) -> list[str]:
    """Return the arguments of a command that are command lines themselves."""
    program = _program_of(words)
    if program in SHELLS:
        script = _script_of_shell(words)
        return [] if script is None else [script]
    if program == "eval":
        return [" ".join(words[1:])]
    if program == "git":
        return _texts_of_git(words)
    if program in WRAPPERS:
        return [word for word in words[1:] if any(character in word for character in " \t\n;")][:_OPTIONS]
    return []


def _script_of_shell(words: list[str]) -> str | None:
    at = 1
    while at < len(words) and words[at].startswith(("-", "+")):
        if _SHELL_SCRIPT_OPTION.fullmatch(words[at]):
            return next((each for each in words[at + 1 :] if not each.startswith(("-", "+"))), None)
        at += 2 if words[at] in _SHELL_VALUES or _SHELL_SETTING.fullmatch(words[at]) else 1
    return None


def _texts_of_git(words: list[str]) -> list[str]:
    """Return the commands that git runs for an alias of its arguments, in submodules, in a bisection or a rebase."""
    settings = _git_settings(words)
    texts = [setting.partition("=!")[2] for setting in settings if "=!" in setting]
    for name, following in (("submodule", "foreach"), ("bisect", "run")):
        if name in words and following in words[words.index(name) :]:
            texts.append(" ".join(words[words.index(following) + 1 :]))
    if "rebase" in words:
        texts += [after for option, after in pairwise(words) if option in ("--exec", "-x")]
        texts += [word.removeprefix("--exec=") for word in words if word.startswith("--exec=")]
    return texts


def _git_settings(words: list[str]) -> list[str]:
    """Return the settings in front of the subcommand, such as `core.pager=less`."""
    start = next(iter(_operand_starts("git", words)), len(words))
    return [after for option, after in pairwise(words[:start]) if option in ("-c", "--config-env")]


def _is_resolved(program: str, words: list[str]) -> bool:
    """Return False if what a command runs is in a file, in its input, or known only to the shell."""
    if program in (".", "source", "eval"):
        return False
    if program in SHELLS:
        is_reporting = len(words) > 1 and all(word in _REPORTING for word in words[1:])
        return is_reporting or _script_of_shell(words) is not None
    if program == "git":
        return all(map(_is_harmless_git_setting, _git_settings(words)))
    return not _is_script_file(words[0])


def _is_harmless_git_setting(setting: str) -> bool:
    return setting.partition(".")[0].lower() in HARMLESS_GIT_SECTIONS


def _is_script_file(program: str) -> bool:
    folder, slash, name = program.rpartition("/")
    if name.endswith(SCRIPT_SUFFIXES):
        return True
    return bool(slash) and not program.startswith("/") and folder.rpartition("/")[2] not in PROGRAM_FOLDERS


def _program_of(words: list[str]) -> str:
    return words[0].rpartition("/")[2] or words[0]


def _strip_prefix(words: list[str]) -> list[str]:
    """Return a command without assignments and keywords of the shell in front of it."""
    start = 0
    while start < len(words) and (words[start] in KEYWORDS or _ASSIGNMENT.match(words[start])):
        is_timed = words[start] == "time"
        start += 1
        if is_timed and words[start : start + 1] == ["-p"]:
            start += 1
    if start < len(words) and words[start] == "function":
        return _strip_prefix(words[start + 2 :])
    return words[start:]
