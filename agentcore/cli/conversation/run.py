"""Runs `agentcore chat` with the running server, or with a core in this process."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from agentcore.cli.backend.opening import running_server
from agentcore.cli.backend.server_client import ServerClient, ServerError
from agentcore.cli.conversation.chat_session import ChatSession
from agentcore.cli.conversation.chat_turn import exit_code_of
from agentcore.cli.conversation.client import Attached, ChatClient, SessionOptions
from agentcore.cli.conversation.event_output import ChatView, JsonView, TerminalView
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.cli.terminal.terminal import is_interactive
from agentcore.late_dataclasses import dataclass
from agentcore.store.state.state_dir import locate_state_dir

_HISTORY_NAME = "chat_history"


@dataclass(frozen=True, slots=True)
class ChatRun:
    """One run of `agentcore chat`, as specified on the command line.

    Args:
        config_path: The app.json.
        options: Options for opening the session.
        message: The one message to send. None: an interactive conversation.
        goes_on: True to continue the most recently used session.
        as_json: True to print events as JSON.
        attached: Files to send with the message, or with the first one of a conversation.
    """

    config_path: Path
    options: SessionOptions
    message: str | None
    goes_on: bool
    as_json: bool
    attached: tuple[Path, ...] = ()

    def run(self) -> int:
        """Run the chat and return the exit code.

        Raises:
            CliError: A server is running but cannot be used, or there is no such session, agent or model.
            AgentcoreError: The core cannot be started in this process.
        """
        server = running_server(self.config_path)
        if server is not None:
            return asyncio.run(self._run_session(ChatClient(ServerClient.from_state_dir(*server), is_own=False)))
        return self._run_here()

    def _run_here(self) -> int:
        from agentcore.cli.backend.local_host import open_local_host
        from agentcore.cli.conversation.own_server import open_own_server
        from agentcore.cli.terminal.terminal_approval import TerminalApprover
        from agentcore.core.core import Core

        def ask_in_order(approver: object, session: ChatSession) -> None:
            if isinstance(approver, TerminalApprover):
                approver.around = lambda request: session.pause_for_question(request.call_id)

        async def run_session(core: Core) -> int:
            async with open_own_server(core) as server:
                return await self._run_session(
                    ChatClient(server, is_own=True), partial(ask_in_order, core.approvals.approver)
                )

        with open_local_host(self.config_path) as local:
            local.warn_of_modules()
            return local.run(run_session)

    async def _run_session(self, client: ChatClient, on_session: Callable[[ChatSession], None] | None = None) -> int:
        view: ChatView = JsonView() if self.as_json else TerminalView()
        session = ChatSession(client, view, has_person=is_interactive())
        if on_session is not None:
            on_session(session)
        try:
            # Upload first, so that a file that cannot be attached leaves no empty session behind.
            attached = [await client.upload_attachment(file) for file in self.attached]
            await self._open_session(session, client)
            if self.message is not None:
                return (await session.send_message(self.message, [each.artifact_id for each in attached])).exit_code
            assert isinstance(view, TerminalView)  # noqa: S101 - JSON comes with a message
            await self._run_conversation(client, session, view, attached)
        finally:
            await session.close()
        return ExitCode.OK

    async def _open_session(self, session: ChatSession, client: ChatClient) -> None:
        try:
            await session.open(await self._resolve_options(client))
        except ServerError as exc:
            raise CliError(exc.message, code=exit_code_of(exc.error)) from exc

    async def _resolve_options(self, client: ChatClient) -> SessionOptions:
        """Return the options, with the most recently used session if `goes_on` is set."""
        if not self.goes_on or self.options.session_id:
            return self.options
        sessions = await client.list_sessions(limit=1)
        if not sessions:
            raise CliError("there is no session to go on with", hint="agentcore chat begins one")
        return replace(self.options, session_id=sessions[0]["sessionId"])

    async def _run_conversation(
        self, client: ChatClient, session: ChatSession, view: TerminalView, attached: list[Attached]
    ) -> None:
        try:
            from agentcore.cli.conversation.prompt_line import PromptLine
        except ModuleNotFoundError as exc:
            from agentcore.installing import pip_command

            raise CliError(
                f"a conversation needs {exc.name}", hint=pip_command("agentcore-runtime[chat]"), code=ExitCode.USAGE
            ) from exc
        from agentcore.cli.conversation.dialogue import Conversation

        if not sys.stdout.isatty():
            raise CliError("a conversation needs a terminal", hint='agentcore chat "…" sends one message')
        line = PromptLine(locate_state_dir(self.config_path) / _HISTORY_NAME)
        await Conversation(client, session, view, line, attached).run()
