"""What modules need on this machine, and its installation."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from agentcore.api import LocalizedText
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.host.requirements import RequirementView
from agentcore.server.confirmation import needs_confirmation
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute

_MAX_AGE_SECONDS = 5.0

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


class RequirementList(BaseModel, defer_build=True):
    """All requirements, those of this machine first."""

    requirements: list[RequirementAnswer]


async def get_requirements(exchange: Exchange) -> Answer:
    """Send all requirements, checked within the last seconds."""
    views = await exchange.host.requirements.check(_MAX_AGE_SECONDS)
    return Answer(to_json({"requirements": [encode_requirement(view) for view in views]}))


async def check_requirements(exchange: Exchange) -> Answer:
    """Check all requirements now."""
    views = await exchange.host.requirements.check()
    return Answer(to_json({"requirements": [encode_requirement(view) for view in views]}))


async def install_requirement(exchange: Exchange) -> Answer:
    """Start an installation, or have the user approve it in the approval view."""
    requirements, name = exchange.host.requirements, exchange.path_values["name"]
    if needs_confirmation(exchange.principal):
        change = requirements.propose(name, exchange.principal)
        raise ToolError(
            "confirmation_required",
            "the user confirms this in the approval view; it is pending there, and starts once it is confirmed",
            changeId=change.change_id,
            expiresAt=change.expires_at_ms,
        )
    requirements.install(name)
    return Answer(to_json(encode_requirement(requirements.find(name))))


async def cancel_installation(exchange: Exchange) -> Answer:
    """Cancel an installation that is running."""
    requirements, name = exchange.host.requirements, exchange.path_values["name"]
    requirements.find(name)
    requirements.cancel(name)
    return Answer(to_json(encode_requirement(await requirements.wait(name))))


def encode_requirement(view: RequirementView) -> dict[str, Any]:
    """A requirement in the form of the wire."""
    info = view.info
    return RequirementAnswer(
        name=info.name,
        host=view.host,
        modules=list(view.modules),
        title=_plain(info.title),
        purpose=_plain(info.purpose),
        installs=_plain(info.installs),
        command=info.command,
        download_bytes=info.download_bytes,
        is_required=info.is_required,
        is_installable=view.is_installable,
        state=view.state,
        text=_plain(view.text),
        progress=None if view.progress is None else _plain(view.progress),
        fraction=view.fraction,
        error=view.error,
        is_declined=view.is_declined,
        change_id=view.change_id,
    ).model_dump(by_alias=True)


def _plain(text: LocalizedText) -> str | dict[str, str]:
    return text if isinstance(text, str) else dict(text)


_BASE = "/api/requirements"

ROUTES = (
    ServerRoute(
        "GET",
        _BASE,
        get_requirements,
        "What modules need on this machine and on hosts on other machines, with its state.",
        answer=RequirementList,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/check",
        check_requirements,
        "Check all requirements now, such as after something was installed by hand.",
        action="manage_modules",
        answer=RequirementList,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/{{name}}/install",
        install_requirement,
        "Install what modules need on this machine. It changes the machine, so the user approves it in the approval "
        "view: the answer is `confirmation_required`, and the installation starts with the approval.",
        action="manage_modules",
        answer=RequirementAnswer,
    ),
    ServerRoute(
        "DELETE",
        f"{_BASE}/{{name}}/install",
        cancel_installation,
        "Cancel an installation that is running.",
        action="manage_modules",
        answer=RequirementAnswer,
    ),
)
