"""What modules offer to models: read at their start and whenever it changes, compared with what the user has reviewed,
and merged."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import structlog

from agentcore.core.approvals.definition_review import INSTRUCTIONS, DefinitionReview
from agentcore.core.declarations.hosted_names import is_pooled_host
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.events import EventBus
from agentcore.core.module_code.module_error import log_failure
from agentcore.core.modules import loader
from agentcore.core.modules.hook_calls import call_hook
from agentcore.core.modules.module_record import ModuleRecord, Offer
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.limits import HOOK_SECONDS

log = structlog.get_logger(__name__)


class Offers:
    """Reads what modules offer, and merges the tools of all.

    Args:
        on_code: Called with all modules whenever tools of some were merged.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        review: DefinitionReview,
        events: EventBus,
        on_code: Callable[[Iterable[ModuleRecord]], None],
    ) -> None:
        self._registry = registry
        self._review = review
        self._events = events
        self._on_code = on_code
        self._refreshes: dict[asyncio.Task[None], ModuleRecord] = {}
        self._due: set[ModuleRecord] = set()

    def merge_tools(self) -> None:
        """Merge the tools of all modules, and publish the change."""
        self._registry.rebuild()
        self._on_code(self._registry.records.values())
        self._events.publish("tools.changed", {"tools": len(self._registry.tools)})

    def publish_state(self, record: ModuleRecord) -> None:
        """Notify clients that something about a module has changed."""
        self._events.publish(
            "module.stateChanged", {"module": record.name, "state": record.state, "reason": record.reason}
        )

    async def read_offer(self, record: ModuleRecord) -> None:
        """Read what a module offers at its start; tools that the user has to review first are withheld.

        Raises:
            BaseException: The reason why it cannot be read.
        """
        given = await call_hook(record, "get_tool_definitions", HOOK_SECONDS)
        offer = await loader.read_offer(record, given)
        record.publish_offer(self._withhold_unreviewed(record, offer))

    def _withhold_unreviewed(self, record: ModuleRecord, offer: Offer) -> Offer:
        if not record.has_outside_definitions:
            return replace(offer, instructions=record.offered_instructions)
        others = [name for name, tool in self._registry.own.items() if tool.module is not record]
        others += [
            tool.definition.name
            for each in self._registry.records.values()
            if each is not record
            for tool in each.withheld
        ]
        instructions = record.instructions_to_review
        waits = self._review.withhold_unreviewed_tools(
            record.reviewed_as,
            [tool.definition for tool in offer.tools],
            instructions,
            others,
            is_shared=is_pooled_host(record.host),
            has_block=isinstance(record.found, FamilyMember),
        )
        return replace(
            offer,
            tools=tuple(tool for tool in offer.tools if tool.definition.name not in waits),
            withheld=tuple(tool for tool in offer.tools if tool.definition.name in waits),
            instructions="" if INSTRUCTIONS in waits else instructions,
        )

    # -- while it runs -----------------------------------------------------------------------------------------

    async def read_again(self, name: str) -> None:
        """Read a module's tools again, if it is ready.

        Args:
            name: The name under which the user reviews its definitions.
        """
        meant = [record for record in self._registry.hosted.values() if record.reviewed_as == name]
        own = self._registry.records.get(name)
        for record in meant if own is None else [own]:
            if record.state == "ready":
                await self.refresh_offer(record)

    def refresh_later(self, record: ModuleRecord) -> None:
        """Read a module's tools again soon: once for all changes that it reports until then."""
        if record.state == "ready" and record not in self._due:
            self._due.add(record)
            # in no TaskGroup: a module asks for it in the middle of its own code; `end_refreshes` ends it, and waits
            task = asyncio.get_running_loop().create_task(self._refresh_in_turn(record), name=f"tools:{record.name}")
            self._refreshes[task] = record
            task.add_done_callback(self._refreshes.pop)

    async def _refresh_in_turn(self, record: ModuleRecord) -> None:
        await asyncio.sleep(record.refresh_pace.delay_s(asyncio.get_running_loop().time()))
        self._due.discard(record)
        await self.refresh_offer(record)

    async def refresh_offer(self, record: ModuleRecord) -> None:
        """Read a module's tools again; if that fails, it offers what it did before."""
        try:
            given = await call_hook(record, "get_tool_definitions", HOOK_SECONDS)
            if record.state == "ready":
                await self._replace_offer(record, given)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "tools_not_refreshed", exc, module=record.name)

    async def _replace_offer(self, record: ModuleRecord, given: Any) -> None:
        offer = await loader.read_offer(record, given)
        if record.state != "ready":  # it was stopped meanwhile
            return
        record.publish_offer(self._withhold_unreviewed(record, offer))
        self.merge_tools()
        self.publish_state(record)

    async def end_refreshes(self, record: ModuleRecord) -> None:
        """Read a module's tools no more: it was shut down."""
        refreshes = [task for task, module in self._refreshes.items() if module is record]
        for task in refreshes:
            task.cancel()
        if refreshes:
            await asyncio.wait(refreshes)
        self._due.discard(record)
