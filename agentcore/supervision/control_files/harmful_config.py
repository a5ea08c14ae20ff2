"""Finds new values in git's configuration that could make git run a program.

Only the plain form that git itself writes is checked; all other content counts as unknown, and so as harmful.
Source: git-config(1).
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Sequence

from agentcore.files.git_config import ConfigLine, GitConfig

_ANY = re.compile(r".*")
_SWITCH = re.compile(r"(?i:true|false|yes|no|on|off|\d{1,12}[kmg]?|)")
_WORD = re.compile(r"[A-Za-z0-9._/-]*")
# Excludes `helper::address`, which runs a program of that name.
_REMOTE = re.compile(r"(?:https?|git|ssh)://[^\s-]\S*|(?:[\w.-]+@)?\w[\w.-]*:(?!:)[^\s:-]\S*")
_LOCAL = re.compile(r"(?:file://)?(\.{0,2}/.*)")
_ADDRESS = re.compile(f"{_REMOTE.pattern}|{_LOCAL.pattern}")
_WORKTREE = re.compile(r"([^~:].*)")

_HARMLESS: dict[str, re.Pattern[str]] = {
    "user.name": _ANY, "user.email": _ANY, "user.signingkey": _ANY, "user.useconfigonly": _SWITCH,
    "author.name": _ANY, "author.email": _ANY, "committer.name": _ANY, "committer.email": _ANY,
    **{
        f"core.{key}": _SWITCH
        for key in (
            "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode",
            "symlinks", "sharedrepository", "quotepath", "longpaths", "untrackedcache", "preloadindex", "compression",
            "sparsecheckout", "sparsecheckoutcone", "splitindex", "multipackindex", "commitgraph", "trustctime",
            "fsmonitor", "bigfilethreshold", "abbrev",
        )
    },
    "core.autocrlf": _WORD, "core.eol": _WORD, "core.safecrlf": _WORD, "core.checkstat": _WORD,
    "core.worktree": _WORKTREE,
    "extensions.objectformat": _WORD, "extensions.partialclone": _WORD, "extensions.refstorage": _WORD,
    "extensions.worktreeconfig": _SWITCH, "extensions.relativeworktrees": _SWITCH,
    "init.defaultbranch": _WORD, "pull.rebase": _SWITCH, "pull.ff": _WORD, "push.default": _WORD,
    "push.autosetupremote": _SWITCH, "push.followtags": _SWITCH, "fetch.prune": _SWITCH, "fetch.prunetags": _SWITCH,
    "rebase.autostash": _SWITCH, "rebase.autosquash": _SWITCH, "merge.ff": _WORD, "merge.conflictstyle": _WORD,
    "commit.gpgsign": _SWITCH, "tag.gpgsign": _SWITCH, "gc.auto": _SWITCH, "maintenance.auto": _SWITCH,
    "maintenance.strategy": _WORD, "index.version": _SWITCH, "index.sparse": _SWITCH, "rerere.enabled": _SWITCH,
    "feature.manyfiles": _SWITCH, "lfs.repositoryformatversion": _SWITCH, "submodule.recurse": _SWITCH,
    "submodule.active": _ANY, "status.showuntrackedfiles": _WORD, "color.ui": _WORD,
    "remote.*.url": _ADDRESS, "remote.*.pushurl": _ADDRESS,
    "remote.*.fetch": _ANY, "remote.*.push": _ANY, "remote.*.tagopt": re.compile(r"--(no-)?tags"),
    "remote.*.prune": _SWITCH, "remote.*.prunetags": _SWITCH, "remote.*.promisor": _SWITCH, "remote.*.mirror": _SWITCH,
    "remote.*.partialclonefilter": re.compile(r"[A-Za-z0-9:=._-]*"), "remote.*.gh-resolved": _WORD,
    "remote.*.skipfetchall": _SWITCH, "remote.*.skipdefaultupdate": _SWITCH,
    "branch.*.remote": re.compile(r"[A-Za-z0-9._-]+"), "branch.*.pushremote": re.compile(r"[A-Za-z0-9._-]+"),
    "branch.*.merge": _ANY, "branch.*.rebase": _WORD, "branch.*.description": _ANY,
    "branch.*.vscode-merge-base": _ANY, "branch.*.gh-merge-base": _ANY,
    "submodule.*.url": _ADDRESS, "submodule.*.active": _SWITCH,
    "submodule.*.branch": _ANY, "submodule.*.ignore": _WORD, "submodule.*.shallow": _SWITCH,
    "submodule.*.update": re.compile(r"checkout|rebase|merge|none"), "submodule.*.fetchrecursesubmodules": _WORD,
}  # fmt: skip


class JudgedConfig(GitConfig):
    """One file of git's configuration, and what it has git do.

    Args:
        text: What it holds.
        folder: Where it lies.
        distrusted: Folders that commands write and nobody looks through: an address there would have git run their
            hooks.
        roots: What a folder that is worked on has to lie in: git overwrites files there. None: anywhere.
    """

    def __init__(
        self, text: str, folder: str, distrusted: Sequence[str] = (), roots: Collection[str] | None = None
    ) -> None:
        super().__init__(text)
        self._folder = folder
        self._distrusted = distrusted
        self._roots = roots

    def harmful(self, trusted: "JudgedConfig | None", *, has_moved: bool = False) -> list[ConfigLine]:
        """Return the new lines that could make git run something.

        Args:
            trusted: The file as it was before; None if it did not exist.
            has_moved: True if the real paths of its `targets` have changed since, through a link.
        """
        lines = () if trusted is None else trusted.lines
        known = Counter((each.key, each.value) for each in lines if not has_moved or self._target(each) is None)
        found = []
        for line in self.lines:
            if self._is_harmless(line):
                continue
            if known[line.key, line.value] > 0:
                known[line.key, line.value] -= 1
            else:
                found.append(line)
        return found

    def without(self, lines: Sequence[ConfigLine]) -> str:
        """Return the text of the file without some of its lines."""
        left_out = {id(line) for line in lines}
        return "".join(f"{line.text}\n" for line in self.lines if id(line) not in left_out)

    def targets(self) -> tuple[str, ...]:
        """Return the paths that it refers git to: local repositories, and the worktree."""
        return tuple(target for line in self.lines if (target := self._target(line)) is not None)

    def _is_harmless(self, line: ConfigLine) -> bool:
        if not line.key:
            return True
        pattern = _HARMLESS.get(line.key)
        if pattern is None or not pattern.fullmatch(line.value):
            return False
        target = self._target(line)
        if target is None:
            return True
        real_path = os.path.realpath(target)
        # Reject a worktree in `.git`: the scan does not look for nested repositories there.
        if pattern is _WORKTREE and (".git" in real_path.split("/") or not self._is_in_roots(real_path)):
            return False
        return not any(f"{real_path}/".startswith(f"{folder}/") for folder in self._distrusted)

    def _is_in_roots(self, real_path: str) -> bool:
        return self._roots is None or any(f"{real_path}/".startswith(f"{root}/") for root in self._roots)

    def _target(self, line: ConfigLine) -> str | None:
        pattern = _HARMLESS.get(line.key)
        if pattern is _WORKTREE:
            return os.path.join(self._folder, line.value)  # noqa: PTH118
        if pattern is _ADDRESS and (local := _LOCAL.fullmatch(line.value)):
            return os.path.join(os.path.dirname(self._folder), local[1])  # noqa: PTH118, PTH120
        return None
