"""Protected files, whose changes always need approval: those that control which code runs and what agents may do."""

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

CONTROL_FILE = "app.json"
MODULES_FOLDER = "modules"
"""Protected if it is next to a control file."""

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
    "**/.hg/hgrc-not-shared",
    "**/.hg/sharedpath",
    ".hgrc",
    "**/.sl/config",
    "**/.sl/sharedpath",
    "**/_darcs/prefs/",
    "**/.pijul/config",
    ".fossil-settings/",
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
    ".xsessionrc",
    ".xonshrc",
    ".wezterm.lua",
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
    "**/.config/nushell/",
    "**/.config/xonsh/",
    "**/.config/starship.toml",
    "**/.config/alacritty/",
    "**/.config/ghostty/",
    "**/.config/kitty/",
    "**/.config/wezterm/",
    "**/.config/zellij/",
    "**/.config/hypr/",
    "**/.config/i3/",
    "**/.config/sway/",
    "**/.config/systemd/",
    "**/Library/LaunchAgents/",
    ".ssh/",
    # Configuration of build tools and package managers that names the programs to run for every project below it.
    "**/.cargo/config",
    "**/.cargo/config.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "bunfig.toml",
    # Interpreters: files that they run when they start in a folder.
    ".Rprofile",
    ".Renviron",
    ".ghci",
    ".byebugrc",
    ".iex.exs",
    ".irbrc",
    ".ocamlinit",
    ".octaverc",
    ".perldb",
    ".pryrc",
    # Editors and debuggers: files that they run when a folder is opened.
    ".vscode/",
    ".vs/",
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
    ".lvimrc",
    ".vimspector.json",
    ".nvimrc",
    ".nvim.lua",
    ".exrc",
    ".ideavimrc",
    "**/.vim/",
    "**/.config/Code/",
    "**/.config/Cursor/",
    "**/.config/VSCodium/",
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
    "mcp.json",
    "AGENT.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "SKILL.md",
    ".agents/",
    ".rules",
    ".aider.conf.yml",
    ".amazonq/",
    ".amp/",
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
    ".copilot/",
    ".crush/",
    ".crush.json",
    "crush.json",
    "CRUSH.md",
    ".cursor/",
    ".cursorrules",
    ".factory/",
    ".gemini/",
    "GEMINI.md",
    ".goose/",
    ".goosehints",
    ".junie/",
    ".kilo/",
    ".kilocode/",
    "kilo.json",
    "kilo.jsonc",
    ".kimi/",
    ".kiro/",
    ".opencode/",
    "opencode.json",
    "opencode.jsonc",
    ".openhands/",
    ".pi/",
    ".qwen/",
    "QWEN.md",
    ".roo/",
    ".roomodes",
    ".roorules",
    ".tabnine/",
    ".trae/",
    ".warp/",
    "WARP.md",
    ".windsurf/",
    ".windsurfrules",
    "**/.config/crush/",
    "**/.config/goose/",
    "**/.config/opencode/",
    "**/.github/agents/",
    "**/.github/chatmodes/",
    "**/.github/copilot-instructions.md",
    "**/.github/hooks/",
    "**/.github/instructions/",
    "**/.github/prompts/",
    "**/.github/skills/",
)
"""The built-in patterns; the settings add further ones."""

REDIRECTS = ("**/.jj/repo",)
"""Protected themselves, but not their content: a file of that name points to a repository elsewhere."""

REPOSITORY_MARKS = frozenset((b"HEAD", b"objects", b"refs", b"commondir"))
"""Entries that make a folder of any name a git repository (setup.c: `is_git_directory`)."""

REPOSITORY_OBEYED = frozenset((b"config", b"config.worktree", b"hooks"))
"""Entries of such a folder that git runs or obeys."""


def is_repository(marks: Collection[bytes]) -> bool:
    """Return True if a folder with these of the `REPOSITORY_MARKS` is a git repository."""
    return b"HEAD" in marks and (b"commondir" in marks or (b"objects" in marks and b"refs" in marks))


class Protection:
    """Patterns of protected files, similar to `.gitignore` but case-insensitive.

    A pattern without a slash (except at its end) matches a file or folder at any depth, one with a slash is relative to
    the root; `**` matches any number of folders, `*`, `?` and `[…]` match within one name. Everything below a match is
    protected too.

    Args:
        patterns: Patterns in addition to `PROTECTED`.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._names: set[str] = set()
        self._shapes: list[str] = []
        self._paths: list[tuple[tuple[str, ...], frozenset[str]]] = []
        self._ways: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self._middles: set[str] = set()
        self._shaped_middles: set[str] = set()
        self._ends: set[str] = set()
        self._shaped_ends: list[str] = []
        for pattern in (*PROTECTED, *patterns):
            self._add_pattern(pattern)
        self._redirects = [_parse_pattern(pattern)[0] for pattern in REDIRECTS]

    def is_protected(self, parts: Sequence[str]) -> bool:
        """Return True if a path, as components beneath its root, or a folder above it matches a pattern."""
        folded = [part.casefold() for part in parts]
        return self._matches_pattern(folded) or self._is_redirect(folded)

    def _matches_pattern(self, folded: Sequence[str]) -> bool:
        names = set(folded)
        return (
            not self._names.isdisjoint(names)
            or any(fnmatchcase(name, shape) for shape in self._shapes for name in names)
            or any(literal <= names and matches_prefix(pattern, folded) for pattern, literal in self._paths)
        )

    def protected_among(
        self, folder: Sequence[str], names: Collection[str], subfolders: Container[str] = ()
    ) -> list[str]:
        """Return the protected entries of a folder that is not protected itself; fast enough for walks over many names.

        Args:
            folder: Path of the folder, as components beneath the root.
            names: All its entries: `modules` is protected next to a control file.
            subfolders: The entries that are folders, which are no `REDIRECTS`.
        """
        found = [name for name in names if self._is_protected_entry(folder, name, is_folder=name in subfolders)]
        if CONTROL_FILE in names:
            found += [name for name in names if name.casefold() == MODULES_FOLDER and name not in found]
        return found

    def beginnings_among(self, folder: Sequence[str], names: Iterable[str]) -> dict[str, list[str]]:
        """Return the entries of a folder that protected paths start with: as a link, each would redirect these paths.

        Args:
            folder: Path of the folder, as components beneath the root.
            names: Its entries.
        Returns:
            For each such entry, the protected paths below it, up to the first component with `*`, `?` or `[…]`.
        """
        found: dict[str, list[str]] = {}
        for name in names:
            folded = name.casefold()
            if folded in self._middles or any(fnmatchcase(folded, shape) for shape in self._shaped_middles):
                below = self._patterns_below([*map(str.casefold, folder), folded])
                if below:
                    found[name] = below
        return found

    def _patterns_below(self, folded: Sequence[str]) -> list[str]:
        """Return the rest of each pattern that starts with this path, in its original case."""
        found: set[str] = set()
        for parts, spelled in self._ways:
            *_, reached = _matched_positions(parts, folded)
            for place in reached:
                if 0 < place < len(parts) and fnmatchcase(folded[-1], parts[place - 1]) and parts[place - 1] != "**":
                    rest = spelled[place:]
                    end = next((number for number, part in enumerate(rest) if _has_shape(part)), len(rest))
                    found.add("/".join(rest[:end]))
        return sorted(found)  # empty for a pattern such as `x/*.pem`: only the link itself can be checked

    def _is_redirect(self, folded: Sequence[str]) -> bool:
        return any(
            matches_prefix(pattern, folded) and not matches_prefix(pattern, folded[:-1]) for pattern in self._redirects
        )

    def _is_protected_entry(self, folder: Sequence[str], name: str, *, is_folder: bool) -> bool:
        folded = name.casefold()
        if folded in self._names or any(fnmatchcase(folded, shape) for shape in self._shapes):
            return True
        is_end = folded in self._ends or any(fnmatchcase(folded, end) for end in self._shaped_ends)
        is_redirect_end = not is_folder and any(folded == pattern[-1] for pattern in self._redirects)
        if not is_end and not is_redirect_end:
            return False
        path = [*map(str.casefold, folder), folded]
        return (is_end and self._matches_pattern(path)) or (is_redirect_end and self._is_redirect(path))

    def _add_pattern(self, pattern: str) -> None:
        parts, literal = _parse_pattern(pattern)
        if not parts:
            return
        if "/" in pattern.rstrip("/"):
            self._ends.add(parts[-1])
            if _has_shape(parts[-1]):
                self._shaped_ends.append(parts[-1])
            self._paths.append((parts, literal))
            self._ways.append(
                (parts, tuple(part for part in pattern.split("/") if part not in ("", "."))[: len(parts)])
            )
            middles = {part for part in parts[:-1] if part != "**"}
            self._middles |= middles
            self._shaped_middles |= {part for part in middles if _has_shape(part)}
        elif _has_shape(parts[0]):
            self._shapes.append(parts[0])
        else:
            self._names.add(parts[0])


@lru_cache(maxsize=1024)
def _parse_pattern(pattern: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the components of a pattern, and those of them without wildcards."""
    parts = tuple(part.casefold() for part in pattern.split("/") if part not in ("", "."))
    while parts and parts[-1] == "**":
        parts = parts[:-1]
    return parts, frozenset(part for part in parts if not _has_shape(part))


def _has_shape(part: str) -> bool:
    return any(character in part for character in "*?[")


def matches_prefix(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Return True if a pattern, as components with `**`, matches a path or a folder above it."""
    return any(len(pattern) in reached for reached in _matched_positions(pattern, parts))


def _matched_positions(pattern: Sequence[str], parts: Sequence[str]) -> Iterator[set[int]]:
    """Yield, after each component of a path, how many components of the pattern may have matched so far."""
    reached = {0}
    for part in parts:
        reached = {
            place if pattern[place] == "**" else place + 1
            for place in _skip_wildcards(pattern, reached)
            if place < len(pattern) and (pattern[place] == "**" or fnmatchcase(part, pattern[place]))
        }
        yield reached


def _skip_wildcards(pattern: Sequence[str], reached: set[int]) -> set[int]:
    """Add the positions after each `**`, which may also match no folder."""
    for place in sorted(reached):
        following = place
        while following < len(pattern) - 1 and pattern[following] == "**":
            following += 1
            reached = reached | {following}
    return reached
