"""`DefinitionReview`: definitions of a module cannot change after the user has seen them; new or changed ones wait."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, NamedTuple

import structlog

from agentcore.api import Effect, Principal, ToolDefinition, ToolView
from agentcore.core.approvals.policy_changes import PolicyChanges, Proposal
from agentcore.errors import ToolError
from agentcore.store.seen_definitions import SeenDefinitions, Verdict

log = structlog.get_logger(__name__)

INSTRUCTIONS = "instructions for models"
"""Stands for them among the names of tools, of which none has a space."""

AT_ONCE = 100
"""Definitions that the user is shown in one change; further ones follow after it."""

_LINE_CHARS = 80
"""Longer values are shown part by part, which is easier to read, and shows which part changed."""

_SERVER = Principal("server")
_WORD = re.compile(r"[A-Za-z0-9_-]{6,64}")

Use = Callable[[str], Awaitable[object]]
"""Reads a module's tools again."""

SaveEffects = Callable[[str, Mapping[tuple[str, ...], Collection[Effect]]], Awaitable[object]]
"""Writes effects of tools to a module's block in app.json, by the paths of their settings in it. Raises `ToolError` or
`ConfigError` if they cannot be written."""

ReloadBlock = Callable[[str], Awaitable[object]]
"""Restarts a module with its changed block."""


class _Pending(NamedTuple):
    """Definitions that wait for the user: texts by tool, names of tools of other modules, and tools with a claim."""

    texts: dict[str, str]
    others: set[str]
    claims: dict[str, ToolDefinition]


class Offered(NamedTuple):
    """The tools of a module and its instructions for models."""

    tools: Sequence[ToolDefinition]
    instructions: str


class DefinitionReview:
    """Stores which definitions the user has accepted, for modules that need a review, and proposes the others.

    An accepted definition is compared as a whole: name, description, schemas, annotations. A tool that differs is not
    offered at all, not even with the accepted definition.

    Args:
        store: Stores the user's decisions.
        changes: Where the user decides.
        use: Reads a module's tools again.
        save_effects: Saves claimed effects that the user accepts.
        reload_block: Has a module use them.
    """

    def __init__(
        self,
        store: SeenDefinitions,
        changes: PolicyChanges,
        use: Use,
        save_effects: SaveEffects,
        reload_block: ReloadBlock,
    ) -> None:
        self._store = store
        self._changes = changes
        self._use = use
        self._save_effects = save_effects
        self._reload_block = reload_block
        self._accepted: dict[str, dict[str, str]] = {}
        self._refused: dict[str, dict[str, str]] = {}
        self._proposed: dict[str, tuple[str, _Pending]] = {}
        self._wanted: dict[str, _Pending] = {}
        self._deciding: set[str] = set()

    async def load_decisions(self) -> None:
        """Load the stored decisions."""
        for row in await self._store.load():
            kept = self._accepted if row.verdict == "accepted" else self._refused
            kept.setdefault(row.module, {})[row.tool] = row.definition

    def withhold_unreviewed_tools(
        self,
        module: str,
        offered: Sequence[ToolDefinition],
        instructions: str,
        known: Iterable[str],
        *,
        is_shared: bool = False,
        has_block: bool = False,
    ) -> frozenset[str]:
        """Return the names of the tools that wait for the user, and propose those that the user has not refused.

        Args:
            module: The module.
            offered: All that it offers now.
            instructions: Its instructions for models; while they wait, `INSTRUCTIONS` is among the names.
            known: Names of tools of other modules, for pointing out a text that mentions them.
            is_shared: True if others offer the same under this name, so that their pending definitions stay pending.
            has_block: True if the module is made of a block of app.json, so that claims of effects can be accepted.
        """
        texts = _definition_texts(offered, instructions)
        accepted = self._accepted.get(module, {})
        refused = self._refused.get(module, {})
        waits = [name for name, text in texts.items() if accepted.get(name) != text]
        asked = [name for name in waits if refused.get(name) != texts[name]]
        if asked or not is_shared:
            shown = {name: texts[name] for name in asked[:AT_ONCE]}
            claims = {each.name: each for each in offered if has_block and each.claim is not None}
            claims = {name: definition for name, definition in claims.items() if name in shown}
            self._propose_definitions(module, _Pending(shown, set(known), claims))
        return frozenset(waits)

    def get_review_status(self, module: str, definition: ToolDefinition) -> Literal["accepted", "refused", "waiting"]:
        """Return what the user has decided about the current definition."""
        text = definition_text(definition)
        if self._accepted.get(module, {}).get(definition.name) == text:
            return "accepted"
        return "refused" if self._refused.get(module, {}).get(definition.name) == text else "waiting"

    async def accept_definitions(self, module: str, offered: Iterable[ToolDefinition], instructions: str) -> None:
        """Store that the user has seen exactly these definitions and instructions when pairing a host."""
        texts = _definition_texts(offered, instructions)
        await self._store.save_decision(module, texts, "accepted")
        self._accepted[module] = texts
        self._refused.pop(module, None)

    async def accept_alike(self, module: str, offered: Offered, own: Offered) -> None:
        """Accept what a module offers exactly as the server's own module of that name does, unless the user has refused
        it.

        Args:
            module: The module of a foreign machine.
            offered: What it offers.
            own: What the server's own module offers.
        """
        accepted = self._accepted.get(module, {})
        refused = self._refused.get(module, {})
        known = _definition_texts(own.tools, own.instructions)
        alike = {
            name: text
            for name, text in _definition_texts(offered.tools, offered.instructions).items()
            if known.get(name) == text and text not in (accepted.get(name), refused.get(name))
        }
        if alike:
            await self._store.save_decision(module, alike, "accepted")
            self._accepted.setdefault(module, {}).update(alike)

    def list_accepted_tools(self, module: str) -> Collection[str]:
        """Return the names of the tools of a module that the user has accepted."""
        return [name for name in self._accepted.get(module, {}) if name != INSTRUCTIONS]

    def modules_of(self, host: str) -> list[str]:
        """Return the modules of a foreign machine of which the user has accepted anything."""
        return [module for module in self._accepted if module.startswith(f"{host}/")]

    def delete_host_definitions(self, host: str) -> None:
        """Delete the decisions about a removed host: the next host with its name is a different one."""
        for module in self.modules_of(host):
            self.withdraw_proposal(module)
            del self._accepted[module]

    def withdraw_proposal(self, module: str) -> None:
        """The module stops: nothing of it waits any more, and what was refused is asked about when it starts again."""
        change_id, _ = self._proposed.pop(module, ("", None))
        self._wanted.pop(module, None)
        self._changes.withdraw_change(change_id)
        self._refused.pop(module, None)

    def ask_again(self) -> None:
        """Ask about what should wait and does not: a stop has swept it away, or too much waited before it."""
        for module, pending in tuple(self._wanted.items()):
            self._propose_definitions(module, pending)

    def _propose_definitions(self, module: str, pending: _Pending) -> None:
        if module in self._deciding:
            return  # its tools are read again afterwards
        texts, others, claims = pending
        change_id, before = self._proposed.get(module, ("", None))
        is_waiting = any(change.change_id == change_id for change in self._changes.waiting)
        if is_waiting and before is not None and (before.texts, before.claims) == (texts, claims):
            return
        if is_waiting:
            self._changes.withdraw_change(change_id)
        self._proposed.pop(module, None)
        self._wanted.pop(module, None)
        if not texts:
            return
        self._wanted[module] = pending
        accepted = self._accepted.get(module, {})
        labels = {name: _label_tool(name, text, others) for name, text in texts.items()}
        diff = tuple((labels[name], _diff(labels[name], accepted.get(name, ""), text)) for name, text in texts.items())
        proposal = Proposal("definitions", module, tuple(texts), diff, lasts=True, reading_tools=tuple(claims))
        try:
            change = self._changes.propose_change(
                proposal,
                _SERVER,
                partial(self._accept_proposal, module, texts),
                partial(self._refuse_proposal, module, texts),
                partial(self._accept_as_reading, module, pending),
            )
        except ToolError as exc:
            log.warning("definitions_not_shown", module=module, reason=exc.message)
            return
        self._proposed[module] = (change.change_id, pending)

    async def _accept_proposal(self, module: str, texts: dict[str, str]) -> None:
        await self._store_verdict(module, texts, "accepted")
        self._accepted.setdefault(module, {}).update(texts)
        await self._use(module)

    async def _accept_as_reading(self, module: str, pending: _Pending, chosen: frozenset[str]) -> None:
        claims = {
            claim.setting: (definition, claim.effects)
            for name, definition in pending.claims.items()
            if name in chosen and (claim := definition.claim) is not None
        }
        with self._deciding_on(module):
            await self._save_effects(module, {setting: effects for setting, (_, effects) in claims.items()})
            # with these effects the module offers what was shown, which differs in nothing else
            as_reading = {each.name: definition_text(each.with_claim_accepted()) for each, _ in claims.values()}
            texts = pending.texts | as_reading
            await self._store.save_decision(module, texts, "accepted")
        self._accepted.setdefault(module, {}).update(texts)
        await self._reload_block(module)

    async def _refuse_proposal(self, module: str, texts: dict[str, str]) -> None:
        await self._store_verdict(module, texts, "refused")
        self._refused.setdefault(module, {}).update(texts)
        await self._use(module)

    async def _store_verdict(self, module: str, texts: dict[str, str], verdict: Verdict) -> None:
        with self._deciding_on(module):
            await self._store.save_decision(module, texts, verdict)

    @contextmanager
    def _deciding_on(self, module: str) -> Iterator[None]:
        """Propose nothing of a module meanwhile. If the decision cannot be stored, the same is asked again."""
        self._deciding.add(module)
        try:
            yield
            self._wanted.pop(module, None)
        finally:
            self._deciding.discard(module)
            self._proposed.pop(module, None)


def definition_fingerprint(definition: ToolDefinition) -> str:
    """Return a digest of everything that is compared."""
    return hashlib.sha256(definition_text(definition).encode()).hexdigest()


def _definition_texts(offered: Iterable[ToolDefinition], instructions: str) -> dict[str, str]:
    texts = {INSTRUCTIONS: _indent_text(instructions)} if instructions else {}
    return texts | {definition.name: definition_text(definition) for definition in offered}


def definition_text(definition: ToolDefinition) -> str:
    """Return the parts of a tool's definition that models or approvals use, as compared and shown.

    Text of the module is indented, so that none of it looks like the next part; its lines end with a line feed alone,
    so that other line ends are visible.
    """
    parts: dict[str, Any] = {
        "result": definition.output_schema,
        "effects": sorted(definition.effects),
        "hints": definition.annotations.to_mcp(),
        "served as": definition.served_as,
        "reads artifacts by": definition.artifact_call,
        **_describe_view(definition.view),
        "called by views as": definition.in_views,
        "icons": [_describe_document(icon.src) for icon in definition.icons],
    }
    lines = [_indent_text(definition.description)]
    lines += ["arguments:", *(f"  {line}" for line in _outline_arguments(definition.input_schema))]
    lines += [line for name, value in parts.items() if value for line in _outline_value(f"{name}:", value)]
    return "\n".join(lines)


def _indent_text(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _outline_arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    """All of a schema, an argument after the other."""
    rest = dict(schema)
    properties = rest.pop("properties", {})
    required = rest.pop("required", [])
    if (
        not isinstance(properties, dict)
        or not isinstance(required, list)
        or not set(properties) >= {*map(str, required)}
    ):
        yield from _outline_value("schema:", schema)
        return
    for name, part in sorted(properties.items()):
        yield from _outline_value(f"{_dump_json(name)}{' (required)' if name in required else ''}:", part)
    if rest != {"type": "object"}:
        yield from _outline_value("besides:", rest)


def _describe_view(view: str | ToolView | None) -> dict[str, Any]:
    """Describe a view for the user, one line each: which document, and everything that it may load and request."""
    if view is None or isinstance(view, str):
        return {"view": None if view is None else _describe_document(view)}
    return {
        "view": _describe_document(view.document),
        "the view connects to": view.connects_to,
        "the view loads from": view.loads_from,
        "the view has frames of": view.frames,
        "the view's addresses are relative to": view.bases,
        "the view asks the browser for": view.permissions,
    }


def _describe_document(document: str) -> str:
    return f"sha256 {hashlib.sha256(document.encode()).hexdigest()}, {len(document):,} characters"


def _outline_value(before: str, value: Any) -> Iterator[str]:
    """Format a value after its label: on the same line if it is short, else part by part below it.

    Different values result in different lines: names and texts are quoted as in JSON.
    """
    parts: Iterable[tuple[str, Any]] = ()
    if len(before) + len(line := _dump_json(value)) >= _LINE_CHARS:
        if isinstance(value, Mapping):
            parts = ((f"{_dump_json(name)}:", part) for name, part in sorted(value.items()))
        elif isinstance(value, list | tuple):
            parts = (("-", part) for part in value)
    below = [f"  {each}" for name, part in parts for each in _outline_value(name, part)]
    yield before if below else f"{before} {line}"
    yield from below


def _dump_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _label_tool(name: str, text: str, others: set[str]) -> str:
    """Return a tool's name, and the tools of other modules that its texts mention, which may mislead a model."""
    named = sorted({word for word in _WORD.findall(text) if word in others})
    return f"{name} (speaks of tools of other modules: {', '.join(named[:5])})" if named else name


def _diff(label: str, before: str, after: str) -> str:
    import difflib  # noqa: PLC0415 - few processes need it

    lines = difflib.unified_diff(
        before.split("\n") if before else [], after.split("\n"), label, label, lineterm="", n=3
    )
    return "\n".join(lines) + "\n"
