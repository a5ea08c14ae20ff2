"""Routes for families of modules: list them, parse pasted text, and add, change and remove blocks."""

import asyncio
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SecretStr

from agentcore.chat.settings import ChatDocument
from agentcore.config.config_errors import ConfigError
from agentcore.core.core import Core
from agentcore.core.discovery.families import name_of_block
from agentcore.core.discovery.installed import Family, installed_families
from agentcore.core.settings.display import to_json_pointer
from agentcore.core.settings.settings_document import SettingsSubject
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.body_models import StrictModel, StrictWireModel
from agentcore.server.confirmation import change_policy
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.modules.block_change import BlockChange, apply_block_change, family_of, plan_blocks
from agentcore.server.modules.pasted import BLOCKS, Pasted, exposed_arguments, read_pasted, secrets_in
from agentcore.server.page.settings_view import not_written
from agentcore.server.route_table import ServerRoute
from agentcore.store.credentials.module_secrets import delete_module_secrets
from agentcore.store.credentials.secret_table import check_secret, read_secrets, save_secret
from agentcore.store.record.call_row import make_notice_row

_TEXT_CHARS = 200_000
_BODY_BYTES = 2 * 1024 * 1024

Key = Annotated[str, Field(min_length=1, max_length=200)]


class FamilyView(StrictWireModel):
    """A family of modules."""

    key: Annotated[str, Field(description="The key of app.json under which its blocks stand.")]
    prefix: Annotated[str, Field(description="What the names of its modules begin with.")]
    distribution: str
    version: str


class FamiliesView(BaseModel, defer_build=True):
    """All families that are installed."""

    families: list[FamilyView]


class PastedBody(StrictModel):
    """A text that somebody pasted."""

    text: Annotated[str, Field(max_length=_TEXT_CHARS)]
    family: Annotated[Key | None, Field(description="The family that is meant where the text names none.")] = None
    key: Annotated[Key | None, Field(description="What one block without a key is to be called.")] = None


class PastedSecret(StrictWireModel):
    """A value that looks like a secret."""

    path: Annotated[str, Field(description="Where it stands in the block, as a JSON Pointer.")]
    name: Annotated[str, Field(description="What it could be called among the secrets.")]
    value: str
    instead: Annotated[str, Field(description="What would stand in its place.")]


class PastedBlock(StrictWireModel):
    """One block, as it would stand in app.json; `exists` where one of its key stands there."""

    key: str
    module: Annotated[str, Field(description="What its module would be called; empty: its key makes no name.")]
    exists: bool
    block: dict[str, Any]
    secrets: list[PastedSecret]
    exposed: Annotated[
        list[str],
        Field(
            description="Arguments of a command that hold a secret or a reference to one, as JSON Pointers: other "
            "users of the machine can see them while it runs."
        ),
    ]


class PastedView(BaseModel, defer_build=True):
    """What a text holds; `family` is null where it is to be chosen, and a block without a key has an empty one."""

    family: str | None
    blocks: list[PastedBlock]
    ignored: Annotated[list[str], Field(description="Keys beside the family's, which are not for it.")]


class BlocksBody(StrictModel):
    """Blocks by key; null removes one. With them, secrets that come to be kept, by name."""

    blocks: Annotated[dict[Key, dict[str, Any] | None], Field(min_length=1, max_length=BLOCKS)]
    secrets: Annotated[dict[str, SecretStr], Field(max_length=BLOCKS, default_factory=dict)]


class BlocksQuery(StrictModel):
    """`preview=diff` shows what would change, and writes nothing."""

    preview: Literal["diff"] | None = None


class BlocksDiff(StrictModel):
    """What changes in one file."""

    file: str
    text: str


class BlocksView(StrictModel):
    """What was done, or would be: the modules that start, and those that end."""

    added: list[str]
    removed: list[str]
    diff: list[BlocksDiff]


async def list_families(exchange: Exchange) -> Answer:
    """Send the families."""
    found = [
        FamilyView(
            key=each.key, prefix=each.prefix, distribution=each.entry.distribution, version=each.entry.version
        ).model_dump(by_alias=True)
        for each in await asyncio.to_thread(installed_families)
    ]
    return Answer(to_json({"families": found}))


async def read_text(exchange: Exchange) -> Answer:
    """Parse a pasted text and send its blocks; nothing is stored."""
    view = await asyncio.to_thread(_pasted_view, exchange.core, exchange.body)
    return Answer(to_json(view))


async def change_blocks(exchange: Exchange) -> Answer:
    """Add, change and remove blocks, with one confirmation by the user."""
    core = exchange.core
    body = exchange.body
    for name, value in body.secrets.items():
        check_secret(name, value)
    subject = replace(_app_json(core), secrets_to_come=body.secrets)
    try:
        change = await asyncio.to_thread(
            plan_blocks, core.config.file, subject, exchange.path_values["key"], body.blocks
        )
    except ConfigError as exc:
        raise not_written(exc) from exc
    if change.added or change.removed:
        exchange.parts.switch.refuse_fixed()
    if exchange.query.preview is None:
        there = await asyncio.to_thread(read_secrets, core.state.path)
        proposal = change.to_proposal({name: name in there for name in body.secrets})
        await change_policy(core.policy_changes, exchange.principal, proposal, lambda: _apply_change(exchange, change))
    shown = [{"file": file, "text": text} for file, text in change.diff]
    return Answer(to_json({"added": change.added, "removed": change.removed, "diff": shown}))


async def _apply_change(exchange: Exchange, change: BlockChange) -> None:
    core = exchange.core
    for name, value in exchange.body.secrets.items():
        await asyncio.to_thread(save_secret, core.state.path, name, value)
        _record_change(exchange, "secret_set", name=name)
    try:
        current = await asyncio.to_thread(_as_it_is_now, exchange, change)
        await apply_block_change(current, exchange.parts.switch, core.modules, core.sources, core.events)
    except ConfigError as exc:
        raise not_written(exc) from exc
    finally:
        if exchange.body.secrets:
            paths = [to_json_pointer(("secrets", name)) for name in exchange.body.secrets]
            core.events.publish("settings.changed", {"module": None, "paths": paths})
    for name in [name_of_block(change.family, key) for key, block in exchange.body.blocks.items() if block is None]:
        await asyncio.to_thread(delete_module_secrets, core.state.path, name)
    _record_change(exchange, "settings_changed", module=None, paths=list(change.paths))


def _as_it_is_now(exchange: Exchange, change: BlockChange) -> BlockChange:
    """Return the change that the user confirmed, based on app.json as it is now."""
    subject = replace(_app_json(exchange.core), secrets_to_come=exchange.body.secrets)
    try:
        return change.rebase_onto(
            plan_blocks(exchange.core.config.file, subject, change.family.key, exchange.body.blocks)
        )
    except (ConfigError, ToolError):
        return change  # writing it reports what is wrong with the file


def _record_change(exchange: Exchange, kind: str, **details: object) -> None:
    by = exchange.principal
    row = make_notice_row(kind, **details)
    exchange.core.store.record.append(row._replace(principal_kind=by.kind, principal_id=by.id))


def _app_json(core: Core) -> SettingsSubject:
    # a family may have been installed since the server started
    keys = dict.fromkeys(family.key for family in installed_families())
    return SettingsSubject.of_app(core.config, ChatDocument, {**keys, **core.modules.block_models()})


def _pasted_view(core: Core, body: PastedBody) -> dict[str, object]:
    families = {family.key: family for family in installed_families()}
    pasted = read_pasted(body.text, families)
    family = _family_meant(pasted, body, families)
    taken = set(read_secrets(core.state.path))
    there = _app_json(core).read_document().value_at((family.key,)) if family else None
    blocks = []
    for key, block in pasted.blocks.items():
        named = key or body.key or ""
        secrets = secrets_in(named, block, taken)
        taken.update(secret.name for secret in secrets)
        blocks.append(
            {
                "key": named,
                "module": name_of_block(family, named) if family and named else "",
                "exists": isinstance(there, dict) and named in there,
                "block": block,
                "secrets": [
                    {
                        "path": to_json_pointer(each.path),
                        "name": each.name,
                        "value": each.value,
                        "instead": each.instead,
                    }
                    for each in secrets
                ],
                "exposed": [to_json_pointer(path) for path in exposed_arguments(block)],
            }
        )
    return {"family": family.key if family else None, "blocks": blocks, "ignored": list(pasted.ignored)}


def _family_meant(pasted: Pasted, body: PastedBody, families: dict[str, Family]) -> Family | None:
    key = pasted.family or body.family
    if key is not None:
        return family_of(key)
    return next(iter(families.values())) if len(families) == 1 else None


_FAMILY = "/api/families/{key}"

ROUTES = (
    ServerRoute(
        "GET", "/api/families", list_families, "Families of modules, whose blocks are modules.", answer=FamiliesView
    ),
    ServerRoute(
        "POST",
        "/api/families/read",
        read_text,
        "What a pasted text would add: its blocks, what their modules would be called, and what in them looks like a "
        "secret. Nothing is kept or run.",
        action="change_settings",
        body=PastedBody,
        answer=PastedView,
    ),
    ServerRoute(
        "PUT",
        _FAMILY,
        change_blocks,
        "Add, change and remove blocks of a family: a new one is listed in `modules` and started, a changed one begins "
        "anew, and one that is null ends. It waits for a person, in the approval view: the answer is "
        "`confirmation_required`. With `preview=diff` nothing is written, and the answer is the diff.",
        action="change_settings",
        query=BlocksQuery,
        body=BlocksBody,
        answer=BlocksView,
        limit_bytes=_BODY_BYTES,
    ),
)
