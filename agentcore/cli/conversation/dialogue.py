"""Interactive chat in the terminal: each line is a message to the model or a command."""

import re
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import click

from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.cli.arguments import find_schema, parse_arguments
from agentcore.cli.conversation.chat_session import SERVER, ChatSession
from agentcore.cli.conversation.client import Attached, ChatClient
from agentcore.cli.conversation.event_output import TerminalView, print_result
from agentcore.cli.conversation.prompt_line import PromptLine
from agentcore.cli.conversation.typed_ahead import Meanwhile
from agentcore.cli.terminal.exit_codes import CliError
from agentcore.cli.terminal.output import colour_text, print_notice, print_table, print_text
from agentcore.cli.terminal.terminal import ask_confirmation, is_interactive
from agentcore.core.policy.authority import is_looser
from agentcore.near_names import closest_name, near_names, shorten_name, unknown_name

_HELP = """\
  /help                  show this
  /new                   begin a new session
  /sessions              list sessions; /sessions ID goes on with one
  /model [NAME]          list models, or change the model
  /agent [ID]            list agents, or change the agent
  /mode [MODE]           show or change which calls need approval: ask, accept_edits, ask_writes, plan,
                         allow, deny
  /host [NAME]           list hosts, or have the calls go to one; server: to the server, agent: as the agent says
  /system                show what the model is told before the conversation
  /queue                 show messages that wait for their turn; /queue go lets go on what is held,
                         /queue drop N takes one out, /queue edit N TEXT changes it
  /retry                 have the last message answered again
  /continue              let a turn continue that has reached its limit
  /attach [FILE …]       attach files to the next message, or show which are; /attach none takes them back
  /tokens                show what the session has used, and how full the model's context is
  /tools [PATTERN]       list tools
  /tool NAME key=value   call a tool yourself, by the rules of `agentcore call`
  /prompt [NAME key=value]  list prompts, or have the text of one stand in the next line, to be changed and sent
  /result                show the whole of the last result
  /quit                  end; so does Ctrl-D

  A line that ends with \\ goes on in the next one; what is pasted may have several lines.
  What you type while the model works waits for its turn. Ctrl-C stops the turn that goes on."""

_ENDS = ("quit", "exit")
_MEANWHILE = frozenset(("help", "queue", "attach", "tokens", "system", "result"))
"""Commands that are accepted while a turn is running."""


_QUEUE_HINT = "/queue, /queue go, /queue drop N, or /queue edit N TEXT"

_COMMAND = re.compile(r"/[\w-]*(\s|$)")


class Conversation:
    """Reads lines and handles them until the user quits.

    Args:
        client: Client of the server's chat routes.
        session: The open session.
        view: Shows the session's events.
        line: Reads the typed lines.
        attached: Files to send with the next message.
    """

    def __init__(
        self,
        client: ChatClient,
        session: ChatSession,
        view: TerminalView,
        line: PromptLine,
        attached: Iterable[Attached] = (),
    ) -> None:
        self._client = client
        self._session = session
        self._view = view
        self._line = line
        self._attached = list(attached)
        self._tools: list[dict[str, Any]] = []
        self._commands: dict[str, Callable[[str], Awaitable[None]]] = {
            "help": self._handle_help,
            "new": self._handle_new,
            "sessions": self._handle_sessions,
            "model": self._handle_model,
            "agent": self._handle_agent,
            "mode": self._handle_mode,
            "host": self._handle_host,
            "system": self._handle_system,
            "queue": self._handle_queue,
            "retry": self._handle_retry,
            "continue": self._handle_continue,
            "attach": self._handle_attach,
            "tokens": self._handle_tokens,
            "tools": self._handle_tools,
            "tool": self._handle_tool,
            "prompt": self._handle_prompt,
            "result": self._handle_result,
        }

        if is_interactive():
            session.meanwhile = Meanwhile(line, view, lambda text: self._run_guarded(self._handle_during_turn(text)))

    async def run(self) -> None:
        """Read and handle lines until Ctrl-D, /quit or /exit.

        Raises:
            CliError: The server cannot be reached.
        """
        await self._run_guarded(self._read_tools())
        overview = await self._client.get_chat_setup()
        if not overview["isSetUp"]:
            self._view.show_text(f"{overview['hint']}. Until then, /tool NAME … calls tools.")
        self._view.show_text(f"{self._session.describe()} · /help, Ctrl-D ends")
        while (text := await self._line.read_line()) is not None:
            if _is_command(text):
                if text.split()[0][1:] in _ENDS:
                    return
                await self._run_guarded(self._run_command(text[1:]))
            elif text.strip():
                await self._run_guarded(self._send_message(text))

    async def _run_guarded(self, work: Awaitable[object]) -> None:
        """Await the handling of a line; a `CliError` is shown and the conversation continues."""
        try:
            await work
        except CliError as exc:
            self._view.show_text("")
            exc.show()

    async def _send_message(self, text: str) -> None:
        attached = self._attached
        self._attached = []
        await self._session.send_message(text, [each.artifact_id for each in attached])

    async def _handle_during_turn(self, text: str) -> None:
        """Handle a line that was typed while a turn is running."""
        if _is_command(text):
            words = text[1:].split() or [""]
            if words[0] in {*self._commands, *_ENDS} - _MEANWHILE or words == ["queue", "go"]:
                raise CliError(f"/{' '.join(words)} has to wait for the answer", hint="Ctrl-C stops it")
            await self._run_command(text[1:])
            return
        state = await self._session.add_message(text, [each.artifact_id for each in self._attached])
        self._attached = []
        if state == "queued":
            self._view.show_text(
                "  queued: goes out after this answer; /queue shows what waits, Ctrl-C stops the answer"
            )

    async def _handle_attach(self, text: str) -> None:
        try:
            files = [Path(word) for word in shlex.split(text)]
        except ValueError as exc:
            raise CliError(f"{text!r} cannot be read: {exc}", hint="/attach FILE, in quotes if it has blanks") from None
        if text == "none":
            files = []
            self._attached = []
        for file in files:
            self._attached.append(await self._client.upload_attachment(file))
        for each in self._attached:
            self._view.show_text(f"attached {each.name} ({each.mime}, {each.size_bytes:,} bytes)")
        if not self._attached:
            self._view.show_text("nothing is attached")

    async def _run_command(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        command = self._commands.get(word)
        if command is None:
            near = closest_name(word, self._commands)
            hint = f"did you mean /{near}?" if near else "/help"
            raise CliError(f"there is no command /{shorten_name(word)}", hint=hint)
        await command(rest.strip())

    async def _handle_help(self, _: str) -> None:
        click.echo(_HELP, err=True)

    async def _handle_new(self, _: str) -> None:
        await self._session.start_similar_session()
        self._print_session()

    async def _handle_sessions(self, wanted: str) -> None:
        if wanted:
            await self._session.switch_to(wanted)
            self._print_session()
            return
        rows = [
            (each["sessionId"], "running" if each["isRunning"] else "waiting" if each["waiting"] else "", each["title"])
            for each in await self._client.list_sessions()
        ]
        print_table(("session", "state", "title"), rows, ["cyan"] * len(rows))

    async def _handle_model(self, name: str) -> None:
        if name:
            await self._session.update_session({"model": name})
        else:
            await self._print_choices("models", "name", "model")
        self._print_session()

    async def _handle_agent(self, agent_id: str) -> None:
        if agent_id:
            await self._session.update_session({"agentId": agent_id})
        else:
            await self._print_choices("agents", "id", "instructions")
        self._print_session()

    async def _handle_mode(self, mode: str) -> None:
        if mode and await self._confirm_mode(mode):
            await self._session.update_session({"mode": mode})
        self._print_session()

    async def _handle_host(self, name: str) -> None:
        if name:
            await self._session.choose_host(name)
            await self._read_tools()
        else:
            own = [(SERVER, "running", "the tools of the server")]
            rows = [(host["name"], host["state"], _describe_host(host)) for host in await self._client.list_hosts()]
            print_table(("host", "state", "about"), [*own, *rows], ["cyan"] * (1 + len(rows)))
        self._print_session()

    async def _read_tools(self) -> None:
        """Load the tools of the session's host and offer them for completion."""
        self._tools = await self._client.list_tools(self._session.host)
        self._line.set_completions(self._commands, self._tools, self._client.find_files, self._client.complete_argument)

    async def _confirm_mode(self, mode: str) -> bool:
        """True unless the user declines a looser mode of a core in this process, which nothing else asks about."""
        before = self._session.mode
        requested: ApprovalMode | None = next((known for known in get_args(ApprovalMode) if known == mode), None)
        if not self._client.is_own or requested is None or not is_looser(requested, before):
            return True
        return await ask_confirmation(f"Calls of this session will be decided by {mode}, and not by {before}.")

    async def _print_choices(self, kind: str, *columns: str) -> None:
        found = (await self._client.get_chat_setup())[kind]
        rows = [[str(each.get(column) or "") for column in columns] for each in found]
        print_table(columns, rows, ["cyan"] * len(rows))

    def _print_session(self) -> None:
        self._view.show_text(self._session.describe())

    async def _handle_system(self, _: str) -> None:
        told = await self._session.get_system_prompt()
        for part in told["parts"]:
            state = "" if part["isTold"] else ", left out"
            click.echo(colour_text(f"{part['id']}: {part['chars']:,} characters{state}", "cyan", bold=True))
            print_text(part["text"])
        tools = told["tools"]
        hidden = f", {tools['hidden']} more are found by searching" if tools["hidden"] else ""
        self._view.show_text(f"{tools['given']} definitions of tools, {tools['chars']:,} characters{hidden}")

    async def _handle_tokens(self, _: str) -> None:
        usage, context = await self._session.get_usage()
        kept = f", {usage['cachedTokens']:,} of them kept by the provider" if usage["cachedTokens"] else ""
        self._view.show_text(f"{usage['inputTokens']:,} tokens sent{kept}; {usage['outputTokens']:,} came back")
        if context is not None:
            about = "" if context["isLimitKnown"] else "about "
            share = context["tokens"] / context["limitTokens"]
            of = f"{context['tokens']:,} of {about}{context['limitTokens']:,} tokens, {share:.0%}"
            self._view.show_text(f"the context of {context['model']} holds {of}")

    async def _handle_queue(self, wanted: str) -> None:
        queue = await self._session.get_queue()
        word, _, rest = wanted.partition(" ")
        if not queue["messages"]:
            self._view.show_text("No message waits.")
        elif wanted == "go":
            await self._session.resume_queue()
        elif word == "drop":
            await self._session.drop_queued(_find_message_id(queue, rest))
            self._view.show_text(f"message {rest.strip()} is taken out")
        elif word == "edit":
            number, _, text = rest.strip().partition(" ")
            message_id = _find_message_id(queue, number)
            if not text.strip():
                raise CliError("what is it to say?", hint="/queue edit N TEXT")
            await self._session.edit_queued(message_id, text.strip())
            self._view.show_text(f"message {number} is changed")
        elif wanted:
            raise CliError(f"/queue {wanted} is nothing that can be done", hint=_QUEUE_HINT)
        else:
            state = "held" if queue["isPaused"] else "waits"
            messages = enumerate(queue["messages"], start=1)
            rows = [(str(number), state, " ".join(message["text"].split())) for number, message in messages]
            print_table(("no", "state", "message"), rows, ["cyan"] * len(rows))

    async def _handle_continue(self, _: str) -> None:
        await self._session.send_message("Continue.")

    async def _handle_retry(self, _: str) -> None:
        await self._session.retry_turn()

    async def _handle_tools(self, pattern: str) -> None:
        await self._read_tools()
        rows = [
            (tool["name"], " ".join(tool["effects"]), tool["description"])
            for tool in self._tools
            if pattern.strip("*") in tool["name"]
        ]
        print_table(("tool", "effects", "description"), rows, ["cyan"] * len(rows))

    async def _handle_tool(self, text: str) -> None:
        name, arguments = self._parse_call("tool", text)
        await self._session.call_tool(self._view, name, arguments)

    async def _handle_prompt(self, text: str) -> None:
        prompts = {tool["name"]: tool for tool in self._tools if tool.get("served_as") == "prompt"}
        if not text:
            rows = [
                (name, " ".join(tool["input_schema"].get("properties", ())), tool["description"])
                for name, tool in prompts.items()
            ]
            print_table(("prompt", "arguments", "description"), rows, ["cyan"] * len(rows))
            return
        name, arguments = self._parse_call("prompt", text)
        if name not in prompts:
            raise CliError(unknown_name("prompt", name, near_names(name, prompts)), hint="/prompt lists them")
        said = await self._client.make_prompt(name, arguments)
        # Prefix text that starts with `/`, or the line would run as a command.
        self._line.prefill(f"{name}:\n{said}" if said.startswith("/") else said)

    def _parse_call(self, command: str, text: str) -> tuple[str, dict[str, Any]]:
        hint = f"/{command} NAME key=value, with quotes around a value that has blanks"
        try:
            name, *words = shlex.split(text) or [""]
        except ValueError as exc:
            raise CliError(f"{text!r} cannot be read: {exc}", hint=hint) from None
        if not name:
            raise CliError(f"which {command}?", hint=hint)
        return name, parse_arguments(find_schema(self._tools, name), None, words)

    async def _handle_result(self, _: str) -> None:
        if self._view.last_result is None:
            print_notice("There is no result yet.", colour_text("→", "cyan"))
        else:
            print_result(self._view.last_result)


def _describe_host(host: Mapping[str, Any]) -> str:
    """Describe a host by its platform and address."""
    return ", ".join(filter(None, (host.get("platform"), host.get("address"))))


def _find_message_id(queue: Mapping[str, Any], number: str) -> str:
    """Return the id of a queued message by its number in the list that is shown to the user."""
    messages = queue["messages"]
    if not number.strip().isdecimal() or not 1 <= int(number) <= len(messages):
        raise CliError(f"{number.strip()!r} is no message that waits", hint=f"a number from 1 to {len(messages)}")
    return str(messages[int(number) - 1]["messageId"])


def _is_command(text: str) -> bool:
    """Return True if a line begins with the name of a command; a path such as `/etc/hosts` begins a message."""
    return _COMMAND.match(text) is not None
