"""The folders that tools may touch: from `workspace.roots` of app.json to existing folders."""

import glob
import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from agentcore.config.app_json import WorkspaceConfig, resolve_config_path
from agentcore.config.config_errors import ConfigError, ConfigProblem
from agentcore.config.json_source import JsonPath
from agentcore.config.loading import AppConfig
from agentcore.config.settings_of_modules import settings_folder
from agentcore.files.workspace import Workspace

_ROOTS: JsonPath = ("workspace", "roots")


def prepare_roots(config: AppConfig, state_dir: Path | None = None) -> tuple[Path, ...]:
    """Resolve the workspace roots, and create the default one if it is missing.

    Args:
        config: The loaded app.json.
        state_dir: The server's state folder, which no root may contain or be inside of.
    Returns:
        Absolute folders without links in their paths, in the order of app.json; none is inside another.
    Raises:
        ConfigError: A root does not exist, is not a folder, cannot be created, is in a folder of modules, or overlaps
            another root or the state folder.
    """
    if config.workspace.roots == WorkspaceConfig().roots:
        _make_default(config)
    roots = [_resolve_root(config, index, text) for index, text in enumerate(config.workspace.roots)]
    for (_, first), (index, second) in combinations(enumerate(roots), 2):
        if _is_overlapping(first, second):
            raise _root_error(config, index, f"{second} overlaps another root, {first}; list the outer one only")
    for index, root in enumerate(roots):
        if any(root.is_relative_to(folder.resolve()) for folder in (config.modules_folder, settings_folder(config))):
            raise _root_error(
                config, index, f"{root} lies in a folder of modules, whose files run here; choose another"
            )
        if state_dir is not None and _is_overlapping(root, state_dir.resolve()):
            raise _root_error(config, index, f"{root} overlaps the server's state folder {state_dir}; choose another")
    return tuple(roots)


def configured_roots(config: AppConfig) -> tuple[Path, ...]:
    """Return the absolute paths of the workspace roots as the user configured them, without following links."""
    paths = (resolve_config_path(config.folder, text) for text in config.workspace.roots)
    return tuple(Path(os.path.abspath(path)) for path in paths)  # noqa: PTH100 - `resolve` would follow links


def open_workspace(config: AppConfig, state_dir: Path) -> tuple[Workspace, tuple[str, ...]]:
    """Open the workspace of an app.json.

    Args:
        state_dir: The server's state folder.
    Returns:
        The workspace, which the caller closes, and the patterns of its protected files.
    Raises:
        ConfigError: As `prepare_roots`.
    """
    roots = prepare_roots(config, state_dir)
    protected = (*config.workspace.protected, *control_patterns(config, roots))
    return Workspace(roots, protected=protected, spelled=configured_roots(config)), protected


def control_patterns(config: AppConfig, roots: Sequence[Path]) -> tuple[str, ...]:
    """Return patterns of the paths inside the roots that control which code runs and what is allowed.

    Args:
        config: The loaded app.json: its file, the settings beside it, and the folder of local modules.
        roots: As returned by `prepare_roots`.
    """
    paths = (config.file, settings_folder(config), config.modules_folder)
    places = {place for path in paths for place in (path, path.parent.resolve() / path.name, path.resolve())}
    inside = {f"/{place.relative_to(root)}" for place in places for root in roots if place.is_relative_to(root)}
    return tuple(sorted(glob.escape(each) for each in inside))


def _make_default(config: AppConfig) -> None:
    root = resolve_config_path(config.folder, config.workspace.roots[0])
    try:
        root.mkdir(exist_ok=True)
    except OSError as exc:
        raise _root_error(config, 0, f"cannot make the default root {root}: {exc.strerror}") from exc


def _resolve_root(config: AppConfig, index: int, text: str) -> Path:
    try:
        root = resolve_config_path(config.folder, text).resolve(strict=True)
    except (OSError, RuntimeError) as exc:  # RuntimeError: a loop of links, or `~` of a user who does not exist
        reason = (exc.strerror or str(exc)) if isinstance(exc, OSError) else str(exc)
        raise _root_error(
            config, index, f"root {text!r}: {reason.lower()}; make the folder or remove the root"
        ) from exc
    if not root.is_dir():
        raise _root_error(config, index, f"root {text!r} is not a folder")
    return root


def _is_overlapping(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _root_error(config: AppConfig, index: int, message: str) -> ConfigError:
    path = (*_ROOTS, index)
    origin = config.origin_of(path)
    return ConfigError(
        [ConfigProblem(message, origin.file, origin.line, origin.column, path, origin.variable)],
    )
