"""References in settings of modules: `${VAR}`, `${VAR:-default}` and `${secret:NAME}` in any text.

`$${` is a literal `${`. References are resolved only when a module is created: everything that displays settings reads
them before that, and shows the references.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field
from typing import Any

from pydantic import SecretStr

from agentcore.config.config_errors import ConfigError, ConfigProblem
from agentcore.config.json_source import JsonPath
from agentcore.config.layers import Origins
from agentcore.config.problems import locate_problem
from agentcore.late_dataclasses import dataclass
from agentcore.secrets import SECRET_NAME, is_secret_variable

_ANY = re.compile(r"(?P<literal>\$\$\{)|\$\{(?P<inner>[^}]*)(?P<end>\}?)")
_SECRET = re.compile(rf"secret:({SECRET_NAME})")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
_FORMS = "${VAR}, ${VAR:-default} or ${secret:NAME}; a literal ${ is written $${"
_OWN_TEXTS = ("$schema", "config", "approvals", "agents")
_WRITE_IT = "write the value itself, or set its variable of the environment, such as AGENTCORE_SERVER__PORT"
_ENTER_KEY = "name the variable that holds the key in api_key_env, or enter the key in the settings of the page"
_INSTEAD = {"models": _ENTER_KEY, "providers": _ENTER_KEY}
_API_TOKEN = "AGENTCORE_TOKEN"  # noqa: S105 - the name of the variable, not its value


@dataclass(frozen=True)
class Resolved:
    """Settings with their references resolved.

    Args:
        values: The settings, in the same shape.
        secrets: Those of the inserted values that must not be disclosed.
    """

    values: Any = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


class References:
    """Resolves references in settings.

    Args:
        environ: The environment of the server when it started.
        read_secrets: Returns the stored secrets by name; called only if a secret is referenced.
    """

    def __init__(self, environ: Mapping[str, str], read_secrets: Callable[[], Mapping[str, SecretStr]]) -> None:
        self._environ = environ
        self._read_secrets = read_secrets

    def resolve(self, values: Any, origins: Origins) -> Resolved:
        """Return settings, a JSON value, with all references resolved.

        Args:
            origins: Origins of the values, for error messages.
        Raises:
            ConfigError: Some references cannot be resolved; each problem names the location, the reference, and a
                remedy.
        """
        run = _Run(self._environ, self._read_secrets if has_secret(values) else dict, origins)
        resolved = run.resolve_value(values, ())
        if run.problems:
            raise ConfigError(run.problems)
        return Resolved(resolved, tuple(run.secrets))


class _Run:
    """One pass over settings, which collects all problems."""

    def __init__(
        self, environ: Mapping[str, str], read_secrets: Callable[[], Mapping[str, SecretStr]], origins: Origins
    ) -> None:
        self._environ = environ
        self._kept = read_secrets()
        self._origins = origins
        self.problems: list[ConfigProblem] = []
        self.secrets: dict[str, None] = {}

    def resolve_value(self, value: Any, path: JsonPath) -> Any:
        if isinstance(value, dict):
            return {key: self.resolve_value(part, (*path, key)) for key, part in value.items()}
        if isinstance(value, list):
            return [self.resolve_value(part, (*path, at)) for at, part in enumerate(value)]
        if isinstance(value, str) and "${" in value:
            return _ANY.sub(lambda found: self._resolve_reference(found, path), value)
        return value

    def _resolve_reference(self, found: re.Match[str], path: JsonPath) -> str:
        if found["literal"]:
            return "${"
        inner = found["inner"]
        if not found["end"] or "${" in inner:
            return self._add_problem(path, f"this text has a ${{ that is no reference; write {_FORMS}")
        if secret := _SECRET.fullmatch(inner):
            return self._resolve_secret(secret[1], path)
        if variable := _VARIABLE.fullmatch(inner):
            return self._resolve_variable(variable[1], variable[2], path)
        return self._add_problem(path, f"${{{inner}}} is no reference; write {_FORMS}")

    def _resolve_secret(self, name: str, path: JsonPath) -> str:
        if name not in self._kept:
            message = f"${{secret:{name}}}: there is no secret {name!r}; set it with: agentcore secrets set {name}"
            return self._add_problem(path, message)
        value = self._kept[name].get_secret_value()
        self.secrets[value] = None
        return value

    def _resolve_variable(self, name: str, default: str | None, path: JsonPath) -> str:
        if name == _API_TOKEN:
            return self._add_problem(
                path, f"${{{name}}}: this is the key to agentcore itself, which no setting is given"
            )
        value = self._environ.get(name)
        if default is not None:
            value = value or default
        if value is None:
            return self._add_problem(
                path,
                f"${{{name}}}: there is no variable {name!r} in the environment of the server; set it and start the "
                f"server again, give a default as in ${{{name}:-default}}, or keep a secret with: "
                f"agentcore secrets set {name}, and write ${{secret:{name}}}",
            )
        if is_secret_variable(name, value):
            self.secrets[value] = None
        return value

    def _add_problem(self, path: JsonPath, message: str) -> str:
        self.problems.append(locate_problem(message, path, self._origins))
        return ""


def has_reference(value: Any) -> bool:
    """Return True if a text in a JSON value contains `${`, that is, a reference or an escaped literal `$${`."""
    return any("${" in text for _, text in _iterate_texts(value, ()))


def has_secret(value: Any) -> bool:
    """Return True if a text in a JSON value may refer to a secret."""
    return any("${secret:" in text for _, text in _iterate_texts(value, ()))


def secrets_named(value: Any) -> set[str]:
    """Return the names of the secrets that a JSON value refers to."""
    found = (match for _, text in _iterate_texts(value, ()) for match in _ANY.finditer(text) if match["end"])
    return {secret[1] for match in found if (secret := _SECRET.fullmatch(match["inner"]))}


def refuse_references(values: Mapping[str, Any], origins: Origins, but_in: Collection[str] = ()) -> None:
    """Reject references outside the settings of modules, where nothing would resolve them.

    In approval rules and agent instructions, `${` is ordinary text.

    Args:
        but_in: Keys whose values are for modules.
    Raises:
        ConfigError: There are such references; each problem names its location.
    """
    looked_at = {key: part for key, part in values.items() if key not in (*_OWN_TEXTS, *but_in)}
    message = "settings of the server hold no references, only those of modules do; {}"
    problems = [
        locate_problem(message.format(_INSTEAD.get(str(path[0]), _WRITE_IT)), path, origins)
        for path, text in _iterate_texts(looked_at, ())
        if "${" in text
    ]
    if problems:
        raise ConfigError(problems)


def _iterate_texts(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _iterate_texts(part, (*path, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from _iterate_texts(part, (*path, at))
