"""Hosts, which run modules outside the server: the key `hosts` of app.json."""

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import InitErrorDetails, PydanticCustomError

from agentcore.api.config_model import ConfigModel, ModuleNames
from agentcore.api.host_group_config import KEEP_MINUTES, HostGroupConfig, KeepMinutes
from agentcore.config.host_kinds import OWN_KINDS, HostKindMissingError, load_kind
from agentcore.files.path_text import PathText

KIND = r"[a-z][a-z0-9_]{0,39}"
"""Pattern of the name of a kind."""

ResourceType = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]


class ProcessHostConfig(ConfigModel):
    """A process of its own on this machine."""

    kind: Annotated[Literal["process"], Field(description="What it is: a process of its own on this machine.")]
    modules: Annotated[ModuleNames, Field(min_length=1, description="The modules that run in it.")]
    python: Annotated[
        PathText | None,
        Field(
            description="Another interpreter, such as that of a virtual environment with `agentcore-runtime`: a path, "
            "relative to app.json's folder, or a program's name."
        ),
    ] = None
    memory_mb: Annotated[
        int | None,
        Field(ge=64, le=1 << 20, description="What it may hold in memory, in MiB; beyond that it is ended."),
    ] = None

    survives_restart: Annotated[
        bool, Field(description="Whether it goes on when the server ends, for the next one to find it as it was.")
    ] = False
    keep_minutes: Annotated[
        float, Field(gt=0, le=10_080, description="How long such a one waits for the next server before it ends.")
    ] = 30

    def find_interpreter(self, folder: Path) -> str:
        """Return the program that runs this host.

        Args:
            folder: The folder of app.json.
        """
        if self.python is None:
            return sys.executable
        if "/" in self.python or self.python.startswith("~"):
            return str(folder / Path(self.python).expanduser())
        return shutil.which(self.python) or self.python


class RemoteHostConfig(ConfigModel):
    """Another machine, which dials in."""

    kind: Annotated[
        Literal["remote"], Field(description="What it is: another machine, on which `agentcore host` runs.")
    ]
    keep_minutes: Annotated[
        KeepMinutes | dict[ResourceType, KeepMinutes],
        Field(
            description="How long what lives there is kept while the connection is lost: one number of minutes, or one "
            "for each type of resource, such as `terminal`."
        ),
    ] = KEEP_MINUTES

    def minutes_by_type(self) -> dict[str, float]:
        """Return how long resources are kept, in minutes, by resource type; the empty name is for all others."""
        given = self.keep_minutes
        return {"": KEEP_MINUTES, **given} if isinstance(given, dict) else {"": given}


_OwnHostConfig = Annotated[ProcessHostConfig | RemoteHostConfig, Field(discriminator="kind")]


def _validate_host(value: Any, validate_own: ValidatorFunctionWrapHandler) -> Any:
    """Validate an entry: of a kind that a distribution adds, with its model; others with agentcore's own."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind in OWN_KINDS or not re.fullmatch(KIND, kind):
        return validate_own(value)
    try:
        model = load_kind(kind).config
    except HostKindMissingError as exc:
        raise PydanticCustomError("host_kind_missing", "{reason}", {"reason": str(exc)}) from None
    return model.model_validate(value)


if TYPE_CHECKING:
    HostConfig = ProcessHostConfig | RemoteHostConfig | HostGroupConfig
else:
    # in a union with the added kinds, each error would be reported once for each of its members
    HostConfig = Annotated[_OwnHostConfig, WrapValidator(_validate_host)]
    """Configuration of a host of any kind."""


def modules_only_in(host: HostConfig) -> tuple[str, ...]:
    """Return the modules that run in this host and nowhere else; those of other machines may run in the server, too."""
    return host.modules if isinstance(host, ProcessHostConfig) else ()


def check_claims(hosts: Mapping[str, HostConfig]) -> None:
    """Check that each module runs in one host only.

    Raises:
        ValidationError: Two hosts claim a module, or one host claims it twice.
    """
    if problems := list(_second_claims(hosts)):
        raise ValidationError.from_exception_data("hosts", problems)


def _second_claims(hosts: Mapping[str, HostConfig]) -> Iterator[InitErrorDetails]:
    first: dict[str, str] = {}
    for name, host in hosts.items():
        modules = modules_only_in(host)
        for number, module in enumerate(modules):
            other = first.setdefault(module, name)
            is_first = other == name and module not in modules[:number]
            if not is_first:
                message = f"module {module!r} runs in one host only, and is claimed by {other!r} and {name!r}"
                told = message if other != name else f"{module!r} listed more than once"
                where = (name, "modules", number)
                yield InitErrorDetails(type=PydanticCustomError("claimed_twice", told), loc=where, input=module)
