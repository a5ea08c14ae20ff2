"""The chat of a server, which is imported when somebody uses it or something of it has to continue."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import structlog

from agentcore.api import ChatSession
from agentcore.core.calls.call import Call
from agentcore.core.calls.chat_protocols import Inquiry, Reply, no_person, no_session
from agentcore.core.core import Core

if TYPE_CHECKING:
    from agentcore.chat.chat import Chat

log = structlog.get_logger(__name__)

_ENTERED = "providers.json"
_VARIABLES = ("_API_KEY", "_BASE_URL")


class LateChat:
    """Creates the chat of a core at its first use. Closed before the core is stopped.

    Until then, it is the core's chat itself: one in which no turn runs.

    Args:
        core: Runs the calls.
        environ: Environment with the keys and addresses of providers.
    """

    def __init__(self, core: Core, environ: Mapping[str, str] = os.environ) -> None:
        self._core = core
        self._environ = environ
        self._chat: Chat | None = None
        core.conversation.chat = self
        if core.config.approvals.api_token:
            log.warning("api_token_approves", hint="anybody who reads the token can approve calls of a model")

    def open(self) -> "Chat":
        """Return the chat, which is created now if it was not used before."""
        if self._chat is None:
            from agentcore.chat.chat import Chat  # noqa: PLC0415 - most of what a server imports beside the core

            self._chat = Chat(self._core, self._environ)
        return self._chat

    @property
    def is_open(self) -> bool:
        """True once the chat was used."""
        return self._chat is not None

    @property
    def is_busy(self) -> bool:
        """True while a turn runs in any session."""
        return self._chat is not None and self._chat.is_busy

    async def open_if_awaited(self) -> None:
        """Open the chat if calls of its sessions wait for decisions, or turns were interrupted.

        Called before anybody can decide about calls that the core restores: the chat has to hear of that.
        """
        chats = self._core.store.chats
        if await chats.load_asked_calls() or await chats.find_interrupted_sessions():
            await self._import_and_open()

    async def preload(self) -> None:
        """Open the chat and import the model libraries in the background, if a model is set up."""
        if _may_have_model(self._core, self._environ):
            (await self._import_and_open()).preload_engine()

    async def resume_turns(self) -> None:
        """Resume the turns that the end of the last process interrupted. Called when the modules have started."""
        if self._chat is not None or self._core.approvals.unused_verdicts:
            await self.open().resume_turns()

    async def close(self) -> None:
        """Cancel all turns; they resume after a restart. Safe to call twice."""
        if self._chat is not None:
            await self._chat.close()
        self._core.conversation.chat = None

    async def _import_and_open(self) -> "Chat":
        with self._core.during_imports():
            await asyncio.to_thread(import_module, "agentcore.chat.chat")
        return self.open()

    # -- as calls see it -----------------------------------------------------------------------------------------

    def session_of(self, call: Call) -> ChatSession | None:
        """Return None: no turn runs."""
        return None

    async def hosts_of(self, session_id: str) -> Sequence[str]:
        """Return the hosts for a session's calls, the preferred one first; empty: none is chosen."""
        own = await self._core.store.chats.hosts.find_host(session_id)
        if own is not None or not self._core.registry.has_hosts:
            return (own,) if own else ()
        await self._import_and_open()
        return await self._core.conversation.get().hosts_of(session_id)

    async def ask_user(self, call: Call, inquiry: Inquiry) -> Reply:
        """Refuse: no turn runs, whose user could be asked."""
        raise no_person(inquiry)

    async def run_agent(
        self,
        call: Call,
        prompt: str,
        tools: Sequence[str] | None,
        model: str | None,
        budget: Mapping[str, int] | None,
    ) -> str:
        """Refuse: no turn runs."""
        raise no_session()


def _may_have_model(core: Core, environ: Mapping[str, str]) -> bool:
    """True if a model may be set up: by app.json, by what was entered on the page, or by the environment."""
    config = core.config
    is_configured = bool(config.models or config.providers) or (core.state.path / _ENTERED).exists()
    return is_configured or has_provider_variable(environ)


def has_provider_variable(environ: Mapping[str, str]) -> bool:
    """True if a variable of the environment may be the key or the address of a provider."""
    return any(name.endswith(_VARIABLES) and value for name, value in environ.items())
