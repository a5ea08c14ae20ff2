"""Requirements of modules in the form that the API sends."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from agentcore.api import LocalizedText
from agentcore.core.requirements import RequirementView

Text = Annotated[str | dict[str, str], Field(description="A text, or one for each language.")]


class RequirementAnswer(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """What modules need on the machine, such as a program."""

    name: str
    host: Annotated[str, Field(description="The host on another machine that it concerns; empty: this machine.")]
    modules: Annotated[list[str], Field(description="The modules that declare it.")]
    title: Text
    purpose: Text
    installs: Annotated[Text, Field(description="What installing does to the machine; or empty.")]
    command: Annotated[str, Field(description="The one command that installs it, for a terminal.")]
    download_bytes: Annotated[int, Field(description="Approximate size of the download; 0 if unknown.")]
    is_required: Annotated[bool, Field(description="False if the modules work without it, only not as well.")]
    is_installable: Annotated[bool, Field(description="Whether it can be installed from here.")]
    state: Literal["met", "missing", "installing", "unknown"]
    text: Annotated[Text, Field(description="What was found, or what is missing.")]
    progress: Annotated[Text | None, Field(description="The current step of its installation, or null.")]
    fraction: Annotated[float | None, Field(description="How much of the installation is done, if that is known.")]
    error: Annotated[str, Field(description="Why the last installation failed; or empty.")]
    is_declined: Annotated[bool, Field(description="Whether the user declined to install it.")]
    change_id: Annotated[str, Field(description="The decision that is pending in the approval view; or empty.")]


def encode_requirement(view: RequirementView) -> dict[str, Any]:
    """Return a requirement in the form that the API sends."""
    info = view.info
    return RequirementAnswer(
        name=info.name,
        host=view.host,
        modules=list(view.modules),
        title=_to_plain(info.title),
        purpose=_to_plain(info.purpose),
        installs=_to_plain(info.installs),
        command=info.command,
        download_bytes=info.download_bytes,
        is_required=info.is_required,
        is_installable=view.is_installable,
        state=view.state,
        text=_to_plain(view.text),
        progress=None if view.progress is None else _to_plain(view.progress),
        fraction=view.fraction,
        error=view.error,
        is_declined=view.is_declined,
        change_id=view.change_id,
    ).model_dump(by_alias=True)


def _to_plain(text: LocalizedText) -> str | dict[str, str]:
    return text if isinstance(text, str) else dict(text)
