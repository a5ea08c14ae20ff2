"""All tools of all ready modules: merged into one list for each host, found by name, encoded once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import pydantic_core

from agentcore.api import ToolDefinition
from agentcore.api.definition import SESSION_ONLY
from agentcore.core.declarations.hosted_names import host_in, hosted_name, is_pooled_host, name_for_people, pool_of
from agentcore.core.modules.module_record import ModuleRecord, RegisteredTool, ToolFormat
from agentcore.core.modules.validation import compile_result_check, compile_validator, defer_to_host
from agentcore.errors import ToolError
from agentcore.near_names import near_names, shorten_name, unknown_name
from agentcore.tool_formats.formats import FORMS, LoweredSchema

_BROUGHT_BY_MODULES = frozenset(("unknown_tool", "unknown_prompt", "view_not_found", "artifact_not_found"))
"""Types of the errors for what is not there, and may be once a module has started."""


def compile_tool(definition: ToolDefinition, module: ModuleRecord) -> RegisteredTool:
    """Compile what the calls of a tool need, and encode what clients are shown of it.

    Raises:
        ValueError: A schema is not valid.
    """
    placed = module.placed
    validate = compile_validator(definition)
    return RegisteredTool(
        definition,
        module,
        validate if placed is None or definition.name not in placed.reads_arguments else defer_to_host(validate),
        compile_result_check(definition),
        LoweredSchema(definition.input_schema),
        _encode_definition(definition, module),
        definition.preview is not None if placed is None else definition.name in placed.prechecked_tools,
    )


def _encode_definition(definition: ToolDefinition, module: ModuleRecord) -> bytes:
    return pydantic_core.to_json(definition.to_json() | _home_of(module))


def _home_of(module: ModuleRecord) -> dict[str, str]:
    home = {"module": name_for_people(module.name)}
    return home | {"host": pool_of(module.host)} if module.host else home


def encoded_in(tool: RegisteredTool, name: ToolFormat) -> bytes:
    """The definition of a tool as JSON text in a form."""
    if name == "agentcore":
        return tool.encoded
    form = FORMS[name]
    return pydantic_core.to_json(form.write(tool.definition, tool.schema.lower_to(form.dialect)))


class HostFacts(NamedTuple):
    """Facts about a foreign machine, for models whose tools act there.

    Args:
        platform: Such as `Linux x86_64`; empty: unknown.
        folders: The folders that its tools work in.
    """

    platform: str = ""
    folders: tuple[str, ...] = ()


class ToolRegistry:
    """Tools by name, as seen from each host. Rebuilt when modules change; looked up by a dictionary.

    Code that changes one of the first three attributes must rebuild.

    Attributes:
        records: The server's own modules that are listed, or were, by name and in their order.
        hosted: Modules of foreign machines, by `HOST/NAME`.
        absent: Hosts that are known and not connected, with the names of their known tools. None: nothing is known of
            the host's tools, so that it may have any.
        facts: Facts for models about hosts.
        announced: Modules that the server starts, also before they have a record.
        claimed: The server's own modules whose tools are those of a pool, and the pool: the modules run here for their
            views only.
        chat_hosts: Hosts and pools that the user allowed to use chats: history, summary, to-do list, models, agents.
        own: The server's own tools.
        tools: The tools if no host is chosen: the server's own; then, for names that it does not have, those of the
            first host by name.
        version: Counts the changes.
    """

    def __init__(self) -> None:
        self.records: dict[str, ModuleRecord] = {}
        self.hosted: dict[str, ModuleRecord] = {}
        self.absent: dict[str, frozenset[str]] = {}
        self.facts: dict[str, HostFacts] = {}
        self.announced: tuple[str, ...] = ()
        self.claimed: dict[str, str] = {}
        self.chat_hosts: set[str] = set()
        self.own: dict[str, RegisteredTool] = {}
        self.tools: dict[str, RegisteredTool] = {}
        self.version = 0
        self._of_host: dict[str, dict[str, RegisteredTool]] = {}
        self._seen_from: dict[str, Mapping[str, RegisteredTool]] = {}
        self._former: dict[tuple[str, str], str] = {}
        self._encoded: dict[tuple[ToolFormat, str], bytes] = {}
        self._keeps_page_scripts = False

    def rebuild(self) -> None:
        """Merge the tools of ready modules in order; if two on one host define the same tool, the first one wins.

        A tool that is left out is listed in its module's `tool_errors`, with the module that has the name.
        """
        for tools in (self.own, *self._of_host.values()):
            for name, tool in tools.items():
                self._former[tool.module.host, name] = tool.module.name
        self.own = _merge_ready_tools(self.records.values())
        hosts = sorted({record.host for record in self.hosted.values()})
        self._of_host = {
            host: _merge_ready_tools(
                (record for record in self.hosted.values() if record.host == host), self._runs_only_on_server
            )
            for host in hosts
        }
        for tools in self._of_host.values():
            tools |= {name: kept for name, tool in tools.items() if (kept := self._with_own_effects(tool)) is not tool}
        for member in filter(is_pooled_host, hosts):
            # a tool of a pool is shown as that of its first host; routing decides for each call which host it goes to
            self._of_host[pool_of(member)] = self._of_host[member] | self._of_host.get(pool_of(member), {})
        self.tools = {name: tool for name, tool in self.own.items() if tool.module.name not in self.claimed}
        for host in sorted(self._of_host):
            if not is_pooled_host(host):
                self.tools = self._of_host[host] | self.tools
        self._encoded = {}
        self._seen_from = {}
        self.version += 1

    # -- chats -------------------------------------------------------------------------------------------------

    def may_use_chats(self, host: str) -> bool:
        """True if the user allowed a foreign machine, or its pool, to use chats."""
        return pool_of(host) in self.chat_hosts

    def allow_chats(self, host: str, *, is_on: bool) -> None:
        """Set whether the user allows a host or pool to use chats. The caller rebuilds."""
        (self.chat_hosts.add if is_on else self.chat_hosts.discard)(host)

    def _runs_only_on_server(self, host: str, tool: ToolDefinition) -> bool:
        """True if a tool works on chats and the host may not: it runs on the server alone."""
        return not self.may_use_chats(host) and (tool.needs_chat or self._needs_chat(tool.name))

    def _needs_chat(self, name: str) -> bool:
        own = self.own.get(name)
        return own is not None and own.definition.needs_chat

    def _with_own_effects(self, tool: RegisteredTool) -> RegisteredTool:
        """Return a tool of a host; if the server's own distribution defines it, too, it has at least those effects.

        A tool with the effect `session` here also has it there.
        """
        own = self.records.get(tool.module.name.rpartition("/")[2])
        if own is None or own.state != "ready" or not own.distribution:
            return tool
        name = tool.definition.name
        definition = tool.definition
        found = next((each.definition.effects for each in own.tools if each.definition.name == name), None)
        if found is None:
            return tool
        if found == SESSION_ONLY and name in tool.module.session_claims:
            effects = SESSION_ONLY
        else:
            effects = definition.effects | (found - SESSION_ONLY)
        if effects == definition.effects:
            return tool
        definition = replace(definition, effects=effects)
        return replace(tool, definition=definition, encoded=_encode_definition(definition, tool.module))

    # -- hosts -------------------------------------------------------------------------------------------------

    def know_host(self, host: str, absent: frozenset[str] | None, facts: HostFacts | None) -> None:
        """Record a host; None: it is connected, or was removed. The caller rebuilds."""
        self.absent.pop(host, None)
        self.facts.pop(host, None)
        if absent is not None:
            self.absent[host] = absent
        if facts is not None:
            self.facts[host] = facts

    @property
    def has_hosts(self) -> bool:
        """True if any foreign machine is known."""
        return bool(self.hosted or self.absent)

    def knows_host(self, host: str) -> bool:
        """True if there is a host of this name, connected or not."""
        return host in self._of_host or host in self.absent

    def host_not_found(self, host: str) -> ToolError:
        """Return the error for an unknown host."""
        message = f"there is no host {host!r}; `agentcore hosts` lists those there are"
        known = sorted({*map(pool_of, self._of_host), *self.absent})
        return ToolError("host_not_found", message, host=host, hosts=known)

    def is_connected(self, host: str) -> bool:
        """True if modules of a host can be called."""
        ready = (record.host for record in self.hosted.values() if record.state == "ready")
        return any(host in (each, pool_of(each)) for each in ready)

    def choose_host(self, hosts: Sequence[str]) -> str:
        """Return the first connected host of a list; else the first; empty: the list is empty."""
        if len(hosts) > 1:
            return next(filter(self.is_connected, hosts), hosts[0])
        return hosts[0] if hosts else ""

    def find_module(self, name: str) -> ModuleRecord | None:
        """Return a module by its name, the server's own or a host's."""
        return self.records.get(name) or self.hosted.get(name)

    def tools_at(self, host: str) -> Mapping[str, RegisteredTool]:
        """Return the tools of a chosen host, and those of others for names that it does not have.

        A tool that the host is known to have, and that cannot be called there now, is not replaced by another
        machine's; if nothing is known of the host's tools, none is.
        """
        if not host:
            return self.tools
        seen = self._seen_from.get(host)
        if seen is None:
            seen = self._seen_from[host] = self._list_visible_tools(host)
        return seen

    def _list_visible_tools(self, host: str) -> dict[str, RegisteredTool]:
        if host not in self._of_host and not self.absent.get(host):
            return {}
        own = self._of_host.get(host, {})
        held = self._tool_names_of_host(host)
        return own | {name: tool for name, tool in self.tools.items() if name not in own and name not in held}

    def _tool_names_of_host(self, host: str) -> set[str]:
        """Return the names of a host's tools, in any state."""
        held = set(self.absent.get(host, ()))
        records = [record for record in self.hosted.values() if host in (record.host, pool_of(record.host))]
        held |= {tool.definition.name for record in records for tool in (*record.tools, *record.withheld)}
        down = {record.name for record in records if record.state not in ("ready", "stopped")}
        held |= {name for (at, name), module in self._former.items() if at == host and module in down}
        if self.may_use_chats(host):
            return held
        return {name for name in held if not self._needs_chat(name)}

    # -- page scripts ------------------------------------------------------------------------------------------

    @property
    def runs_page_scripts(self) -> bool:
        """True if a ready module runs a model's scripts in agentcore's own page."""
        ready = (record for record in self.records.values() if record.state == "ready")
        return self._keeps_page_scripts or any(record.manifest.runs_scripts_in_page for record in ready)

    @contextmanager
    def preserve_page_scripts(self) -> Iterator[None]:
        """Return a context in which modules are reloaded: scripts in the page continue, and could exploit the gap."""
        self._keeps_page_scripts = self.runs_page_scripts
        try:
            yield
        finally:
            self._keeps_page_scripts = False

    # -- one tool ----------------------------------------------------------------------------------------------

    def get_tool(self, name: str, host: str = "") -> RegisteredTool:
        """Return the tool of this name as seen from a host; never another machine's instead of the host's own.

        Args:
            host: The host; empty: none is chosen.
        Raises:
            ToolError: `unknown_tool` with similar names; `module_stopping` or `module_failed` if it was there;
                `host_not_found`; `host_away`: the host is known to have it, and is not connected.
        """
        tool = (self.tools_at(host) if host else self.tools).get(name)
        if tool is not None:
            return tool
        waiting = self._find_withheld_module(name, host)
        error = (
            self._why_down(name, host)
            or (self._why_claimed(name, host) if waiting is None else None)
            or self.why_away(name, host)
            or self._why_down(name, "")
        )
        if error is not None:
            raise error
        if waiting is not None:
            message = (
                f"tool {name!r} of module {waiting!r} is new, or another than the person has seen, and waits for them "
                "in the approval view"
            )
            raise ToolError("definition_waits", message, retryable=True, tool=name, module=waiting)
        near = near_names(name, self.tools_at(host))
        raise ToolError("unknown_tool", unknown_name("tool", name, near), tool=shorten_name(name), near=near)

    def modules_to_wait_for(self, error: ToolError) -> list[str]:
        """Return the server's modules that are starting and may bring what was not found.

        Args:
            error: The reason why a tool, or what a tool serves, was not found.
        """
        if error.type == "module_stopping":
            module = self.records.get(str(error.context.get("module")))
            return [module.name] if module is not None and module.state == "loading" else []
        return self.list_starting_modules() if error.type in _BROUGHT_BY_MODULES else []

    def list_starting_modules(self) -> list[str]:
        """Return the server's modules that are starting, or have not begun to."""
        pending = [name for name in self.announced if name not in self.records]
        return [*pending, *(name for name, record in self.records.items() if record.state == "loading")]

    def find_aliased_tool(self, alias: str, host: str) -> ToolDefinition | None:
        """Return the tool that a dotted name of the host protocol stands for, as seen from a host.

        That is a tool of the host itself, else of the server, else of the first other host by name. None: there is
        none.
        """
        found = [
            tool
            for tool in self.tools_at(host).values()
            if tool.definition.host_alias is not None and tool.definition.host_alias.name == alias
        ]
        nearest = min(found, key=lambda tool: (tool.module.host != host, tool.module.host), default=None)
        return None if nearest is None else nearest.definition

    def hosts_with_tool(self, name: str) -> list[str]:
        """Return where a tool can be called: hosts and pools by name, and the server as an empty name."""
        own = [""] if name in self.own and self.own[name].module.name not in self.claimed else []
        return own + [
            host for host in sorted(self._of_host) if not is_pooled_host(host) and name in self._of_host[host]
        ]

    def _why_down(self, name: str, host: str) -> ToolError | None:
        """Return the error for a tool whose module is not ready; None: there is none of this name on the host."""
        module = self.find_module(self._former.get((host, name), ""))
        if module is not None and module.state in ("stopping", "loading"):
            message = f"module {module.name!r} of tool {name!r} is {module.state}; try again in a moment"
            return ToolError("module_stopping", message, retryable=True, module=module.name)
        if module is not None and module.state == "failed":
            message = f"module {module.name!r} of tool {name!r} has failed: {module.reason}"
            return ToolError("module_failed", message, module=module.name)
        return None

    def why_away(self, name: str, host: str) -> ToolError | None:
        """Return the error for a tool whose host is not connected; None: that is not the reason.

        Args:
            host: The requested host; empty: any.
        """
        if host and not self.knows_host(host):
            if is_pooled_host(host) and self.knows_host(pool_of(host)):
                return host_away(host, f"host {host!r} has gone")  # a moment ago it was chosen, or had the resource
            return self.host_not_found(host)
        if host and host not in self._of_host and not self.absent.get(host):
            return host_away(host, f"host {host!r} is not connected, and nothing is called on another machine instead")
        for away in (host,) if host else sorted(self.absent):
            if name in self.absent.get(away, ()):
                return host_away(away, f"tool {name!r} is on host {away!r}, which is not connected")
        return None

    def _why_claimed(self, name: str, host: str) -> ToolError | None:
        """Return the error for a tool of a pool without a connected host; None: that is not the reason."""
        for module, pool in self.claimed.items():
            record = self.records.get(module)
            if record is not None and host in ("", pool) and any(each.definition.name == name for each in record.tools):
                return host_away(pool, f"tool {name!r} is in pool {pool!r}, and no host of it is connected")
        return None

    def _find_withheld_module(self, name: str, host: str) -> str | None:
        """Return the module of a tool that waits for the user's review; None: there is none of this name."""
        for record in (*self.records.values(), *self.hosted.values()):
            is_meant = record.state == "ready" and (
                not host or host in (record.host, pool_of(record.host)) or not record.host
            )
            if is_meant and any(tool.definition.name == name for tool in record.withheld):
                return record.name
        return None

    def find_tool_of_module(self, module: str, name: str) -> RegisteredTool | None:
        """The tool of a module, if that has it now and offers it."""
        host = host_in(module)
        tool = (self._of_host.get(host, {}) if host else self.own).get(name)
        return tool if tool is not None and tool.module.name == module else None

    # -- all tools ---------------------------------------------------------------------------------------------

    def replaced_modules(self) -> frozenset[str]:
        """Return modules whose tools a ready module of the same machine offers in its own form.

        A host hides nothing of the server's or of another host's.
        """
        found: set[str] = set()
        for record in (*self.records.values(), *self.hosted.values()):
            if record.state == "ready":
                found |= {hosted_name(record.host, name) for name in record.manifest.stands_in_for}
        return frozenset(found)

    def encode_tools(self, form: ToolFormat, host: str = "") -> bytes:
        """The list as JSON, put together of the encoded definitions once until the tools change."""
        body = self._encoded.get((form, host))
        if body is None:
            tools = b",".join([encoded_in(tool, form) for tool in self.tools_at(host).values()])
            body = b'{"tools":[' + tools + b"]}"
            if not host or self.knows_host(host):  # nothing is stored of arbitrary names
                self._encoded[form, host] = body
        return body


def host_away(host: str, message: str) -> ToolError:
    """Return the error of a call whose host is not connected."""
    return ToolError("host_away", f"{message}; try again once it is", retryable=True, host=host)


def _merge_ready_tools(
    modules: Iterable[ModuleRecord], stays_here: Callable[[str, ToolDefinition], bool] | None = None
) -> dict[str, RegisteredTool]:
    """Return the tools of ready modules, by name.

    Args:
        stays_here: True for a tool of a host that runs on the server only; None: they are the server's own.
    """
    merged: dict[str, RegisteredTool] = {}
    for module in (record for record in modules if record.state == "ready"):
        conflicts = []
        for tool in module.tools:
            name = tool.definition.name
            if stays_here is not None and stays_here(module.host, tool.definition):
                conflicts.append(
                    f"tool {name!r} is left out: it works on chats, which host {pool_of(module.host)!r} may not use; "
                    "it runs on the server instead, if that has it"
                )
            elif name in merged:
                owner = merged[name].module.name
                conflicts.append(f"tool {name!r} is left out: module {owner!r} has one of this name already")
            else:
                merged[name] = tool
        module.leave_out_tools(conflicts)
    return merged
