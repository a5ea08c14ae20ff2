"""Common base of the models of app.json."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Strict, StringConstraints

from agentcore.api.module import MODULE_NAME

ModuleName = Annotated[str, StringConstraints(pattern=MODULE_NAME, max_length=64)]
# a list in JSON becomes a tuple; only the container is converted, its elements are still validated strictly
ModuleNames = Annotated[tuple[ModuleName, ...], Strict(False)]


class ConfigModel(BaseModel, defer_build=True):
    """A part of app.json: unknown keys are errors, and texts do not pass for numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=False)
