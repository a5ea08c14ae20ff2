"""Checks the requirements in a distribution's metadata before any of its code is imported."""

import importlib.metadata
import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentcore import __version__
from agentcore.core.discovery.installed import InstalledModule, normalise_name
from agentcore.core.discovery.syntax_tree import parse_serially
from agentcore.errors import AgentcoreError
from agentcore.installing import pip_command

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_OWN = "agentcore-runtime"


class RequirementsNotMet(AgentcoreError):  # noqa: N818 - it says what happened
    """A requirement of a module's distribution is not installed, or has another version.

    Args:
        problems: What is wrong, one part of a sentence each.
        requirements: The packages to install with `pip`.
    """

    def __init__(self, found: InstalledModule, problems: tuple[str, ...], requirements: tuple[str, ...]) -> None:
        self.problems = problems
        self.command = pip_command(*requirements) if requirements else ""
        advice = f"; try: {self.command}" if requirements else ""
        super().__init__(f"{found.distribution} {found.version} needs {', and '.join(problems)}{advice}")


def check_requirements(found: InstalledModule) -> None:
    """Check that the requirements of a module's distribution are installed: `Requires-Dist` and `Requires-Python`.

    Indirect requirements are checked only for the extras that it requests.

    Raises:
        RequirementsNotMet: One is missing, or has another version.
    """
    lines = [str(line) for line in found.headers.get_all("Requires-Dist") or ()]
    python = str(found.headers.get("Requires-Python") or "")
    if not lines and not python:
        return
    missing = list(_missing_of(lines, frozenset())) if lines else []
    problems = [problem for problem, _ in missing]
    if python and not _is_python(python):
        problems.insert(0, f"Python {python}, and this is {platform.python_version()}")
    if problems:
        raise RequirementsNotMet(found, tuple(problems), tuple(requested for _, requested in missing if requested))


def _missing_of(lines: list[str], extras: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Return what is wrong with each of these, and what to install for it."""
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - 10 ms, for who needs it

    for line in lines:
        try:
            requirement = parse_serially(Requirement, line)
        except InvalidRequirement:
            yield f"{line!r}, which is no requirement that can be read", ""
            continue
        if _applies(requirement, extras):
            yield from _find_missing(requirement)


def _applies(requirement: "Requirement", extras: frozenset[str]) -> bool:
    """True if a requirement belongs to one of these extras, or without any, if it applies to this machine."""
    marker = requirement.marker
    is_always = marker is None or marker.evaluate({"extra": ""})
    if not extras or marker is None or is_always:
        return is_always and not extras
    return any(marker.evaluate({"extra": extra}) for extra in extras)


def _find_missing(requirement: "Requirement") -> Iterator[tuple[str, str]]:
    requested = f"{requirement.name}{_format_extras(requirement)}{requirement.specifier}"
    to_install = f"{requested.partition(' ')[0]} @ {requirement.url}" if requirement.url else requested
    version = _version_of(requirement.name)
    if version is None:
        yield f"{requested}, which is not installed", to_install
    elif not _is_satisfied_by(requirement, version):
        yield f"{requested}, and {version} is installed", to_install
    elif requirement.extras:
        lines = _read_requires(requirement.name)
        for problem, _ in _missing_of(lines, frozenset(requirement.extras)):
            yield f"{problem} (for {requirement.name}{_format_extras(requirement)})", to_install


def _is_satisfied_by(requirement: "Requirement", version: str) -> bool:
    from packaging.version import InvalidVersion  # noqa: PLC0415 - as above

    try:
        return requirement.specifier.contains(version, prereleases=True)
    except InvalidVersion:  # cannot be checked
        return True


def _format_extras(requirement: "Requirement") -> str:
    return f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""


def _version_of(name: str) -> str | None:
    if normalise_name(name) == _OWN:
        return __version__  # the running code, whatever its metadata say
    try:
        return importlib.metadata.version(name)
    except (importlib.metadata.PackageNotFoundError, KeyError, TypeError):  # not there, or remains without metadata
        return None


def _read_requires(name: str) -> list[str]:
    try:
        return importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:  # agentcore itself, run from its sources
        return []


def _is_python(specifier: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - as above

    try:
        return SpecifierSet(specifier).contains(platform.python_version(), prereleases=True)
    except InvalidSpecifier:
        return True  # no installer could read it either
