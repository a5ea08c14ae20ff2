"""Which files inside the workspace always need a person: those that decide what runs, and what an agent may do."""

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

CONTROL_FILE = "app.json"
MODULES_FOLDER = "modules"
"""Protected where it stands beside a control file."""

PROTECTED = (
    CONTROL_FILE,
    # Version control: hooks, and configuration that names programs. `.git` itself, because a file of that name
    # redirects git elsewhere.
    ".git/",
    ".githooks/",
    ".husky/",
    ".gitconfig",
    ".pre-commit-config.yaml",
    ".lefthook/",
    ".lefthook.yml",
    "lefthook.yml",
    "**/.config/git/",
    "**/.hg/hgrc",
    ".hgrc",
    "**/.jj/repo/config.toml",
    "**/.config/jj/",
    # Shells, log-in sessions, terminal multiplexers, and tools that act when a folder is entered.
    ".bashrc",
    ".bash_aliases",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".pam_environment",
    ".tmux.conf",
    ".screenrc",
    ".envrc",
    ".direnvrc",
    "mise.toml",
    ".mise.toml",
    "mise.local.toml",
    ".mise/",
    "**/.config/mise/",
    "**/.config/direnv/",
    "**/.config/fish/",
    "**/.config/tmux/",
    "**/.config/autostart/",
    "**/.config/environment.d/",
    "**/.config/systemd/",
    "**/Library/LaunchAgents/",
    ".ssh/",
    # Configuration of build tools that names the programs to run for every project below it.
    "**/.cargo/config",
    "**/.cargo/config.toml",
    # Editors and debuggers: what they run when a folder is opened.
    ".vscode/",
    ".idea/",
    ".fleet/",
    ".zed/",
    ".helix/",
    ".devcontainer/",
    ".devcontainer.json",
    "*.code-workspace",
    "*.sublime-project",
    ".vimrc",
    ".gvimrc",
    ".nvimrc",
    ".nvim.lua",
    ".exrc",
    ".ideavimrc",
    "**/.vim/",
    "**/.config/helix/",
    "**/.config/nvim/",
    "**/.config/zed/",
    ".emacs",
    ".emacs.d/",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    # Agents: their settings, the servers that they start, and the instructions that they follow.
    ".mcp.json",
    "AGENT.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "SKILL.md",
    ".agents/",
    ".rules",
    ".aider.conf.yml",
    ".amazonq/",
    ".augment/",
    ".claude/",
    ".claude.json",
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".cline/",
    ".clinerules",
    ".codeium/",
    ".codex/",
    ".continue/",
    ".crush/",
    ".crush.json",
    "crush.json",
    "CRUSH.md",
    ".cursor/",
    ".cursorrules",
    ".gemini/",
    "GEMINI.md",
    ".goose/",
    ".goosehints",
    ".junie/",
    ".kilocode/",
    ".kiro/",
    ".opencode/",
    "opencode.json",
    "opencode.jsonc",
    ".openhands/",
    ".qwen/",
    "QWEN.md",
    ".roo/",
    ".roomodes",
    ".roorules",
    ".trae/",
    "WARP.md",
    ".windsurf/",
    ".windsurfrules",
    "**/.config/crush/",
    "**/.config/goose/",
    "**/.config/opencode/",
    "**/.github/agents/",
    "**/.github/chatmodes/",
    "**/.github/copilot-instructions.md",
    "**/.github/instructions/",
    "**/.github/prompts/",
)
"""The patterns that always hold; a host adds its own."""

REPOSITORY_MARKS = frozenset((b"HEAD", b"objects", b"refs", b"commondir"))
"""What makes a folder a repository of git's, whatever it is called (setup.c: `is_git_directory`)."""

REPOSITORY_OBEYED = frozenset((b"config", b"config.worktree", b"hooks"))
"""What git runs or obeys in such a folder."""


def is_repository(marks: Collection[bytes]) -> bool:
    """Whether a folder with these of the marks is one."""
    return b"HEAD" in marks and (b"commondir" in marks or (b"objects" in marks and b"refs" in marks))


class Protection:
    """Patterns of protected files, in the manner of `.gitignore`; capitals and small letters are the same.

    A pattern without a slash (but at its end) names a file or folder at any depth, one with a slash is relative to
    the root; `**` stands for any number of folders, `*`, `?` and `[…]` for parts of one name. All that lies below a
    match is protected too.

    Args:
        patterns: The host's, in addition to `PROTECTED`.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._names: set[str] = set()
        self._shapes: list[str] = []
        self._paths: list[tuple[tuple[str, ...], frozenset[str]]] = []
        self._ends: set[str] = set()
        self._shaped_ends: list[str] = []
        for pattern in (*PROTECTED, *patterns):
            self._add(pattern)

    def covers(self, parts: Sequence[str]) -> bool:
        """Whether a path, as components beneath its root, is protected by its name or by a folder above it."""
        folded = [part.casefold() for part in parts]
        names = set(folded)
        return (
            not self._names.isdisjoint(names)
            or any(fnmatchcase(name, shape) for shape in self._shapes for name in names)
            or any(literal <= names and begins(pattern, folded) for pattern, literal in self._paths)
        )

    def covered_among(self, folder: Sequence[str], names: Collection[str]) -> list[str]:
        """Which entries of a folder are protected, where the folder itself is not; made for walks over many names.

        Args:
            folder: Its path, as components beneath the root.
            names: All its entries: `modules` is protected beside a control file.
        """
        found = [name for name in names if self._covers_entry(folder, name)]
        if CONTROL_FILE in names:
            found += [name for name in names if name.casefold() == MODULES_FOLDER and name not in found]
        return found

    def _covers_entry(self, folder: Sequence[str], name: str) -> bool:
        folded = name.casefold()
        if folded in self._names or any(fnmatchcase(folded, shape) for shape in self._shapes):
            return True
        is_end = folded in self._ends or any(fnmatchcase(folded, end) for end in self._shaped_ends)
        return is_end and self.covers((*folder, name))

    def _add(self, pattern: str) -> None:
        parts, literal = _parse(pattern)
        if not parts:
            return
        if "/" in pattern.rstrip("/"):
            self._ends.add(parts[-1])
            if _has_shape(parts[-1]):
                self._shaped_ends.append(parts[-1])
            self._paths.append((parts, literal))
        elif _has_shape(parts[0]):
            self._shapes.append(parts[0])
        else:
            self._names.add(parts[0])


@lru_cache(maxsize=1024)
def _parse(pattern: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the components of a pattern, and those among them that name one thing."""
    parts = tuple(part.casefold() for part in pattern.split("/") if part not in ("", "."))
    while parts and parts[-1] == "**":
        parts = parts[:-1]
    return parts, frozenset(part for part in parts if not _has_shape(part))


def _has_shape(part: str) -> bool:
    return any(character in part for character in "*?[")


def begins(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a pattern, as components with `**`, matches a path or a folder above it."""
    reached = {0}
    for part in parts:
        reached = _skip(pattern, reached)
        reached = {
            place if pattern[place] == "**" else place + 1
            for place in reached
            if pattern[place] == "**" or fnmatchcase(part, pattern[place])
        }
        if len(pattern) in reached:
            return True
    return False


def _skip(pattern: Sequence[str], reached: set[int]) -> set[int]:
    """Add the places after each `**`, which may also stand for no folder."""
    for place in sorted(reached):
        following = place
        while following < len(pattern) - 1 and pattern[following] == "**":
            following += 1
            reached = reached | {following}
    return reached
