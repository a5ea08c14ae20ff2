"""All tools of all ready modules: merged into one list, found by name, encoded once."""

from collections.abc import Iterator
from contextlib import contextmanager

import pydantic_core

from agentcore.api import ToolDefinition
from agentcore.errors import ToolError
from agentcore.host.modules.module_record import ModuleRecord, RegisteredTool, ToolFormat
from agentcore.host.modules.validation import compile_result_check, compile_validator, or_left_to_place
from agentcore.near_names import near_names, unknown_name
from agentcore.tool_forms import FORMS, LoweredSchema


def prepare(definition: ToolDefinition, module: ModuleRecord) -> RegisteredTool:
    """Compile what the calls of a tool need, and encode what clients are shown of it.

    Raises:
        ValueError: A schema is not valid.
    """
    placed, validate = module.placed, compile_validator(definition)
    return RegisteredTool(
        definition,
        module,
        validate if placed is None or definition.name not in placed.reads_arguments else or_left_to_place(validate),
        compile_result_check(definition),
        LoweredSchema(definition.input_schema),
        pydantic_core.to_json(definition.to_json() | {"module": module.name}),
        definition.preview is not None if placed is None else definition.name in placed.looks_first,
    )


def encoded_in(tool: RegisteredTool, name: ToolFormat) -> bytes:
    """The definition of a tool as JSON text in a form."""
    if name == "agentcore":
        return tool.encoded
    form = FORMS[name]
    return pydantic_core.to_json(form.write(tool.definition, tool.schema.to(form.dialect)))


class ToolRegistry:
    """Tools by name. Rebuilt when modules change; looked up by a dictionary.

    `records` are all modules that are listed, or were, by name and in their order; whoever changes one rebuilds.
    """

    def __init__(self) -> None:
        self.records: dict[str, ModuleRecord] = {}
        self.hosted: dict[str, ModuleRecord] = {}
        self.absent: dict[str, frozenset[str]] = {}
        self.tools: dict[str, RegisteredTool] = {}
        self.version = 0
        self._former: dict[str, str] = {}
        self._encoded: dict[ToolFormat, bytes] = {}
        self._keeps_page_scripts = False

    def rebuild(self) -> None:
        """Merge the tools of ready modules in their order; of two tools with one name the first counts.

        A tool that is left out is named in its module's `tool_errors`, together with who has the name.
        """
        merged: dict[str, RegisteredTool] = {}
        for module in (record for record in self.records.values() if record.state == "ready"):
            module.conflicts.clear()
            for tool in module.tools:
                name = tool.definition.name
                if name in merged:
                    owner = merged[name].module.name
                    module.conflicts.append(f"tool {name!r} is left out: module {owner!r} has one of this name already")
                else:
                    merged[name] = tool
        self._former |= {name: tool.module.name for name, tool in self.tools.items()}
        self.tools, self._encoded = merged, {}
        self.version += 1

    @property
    def runs_page_scripts(self) -> bool:
        """Whether a module that is ready runs scripts of a model in agentcore's own page."""
        ready = (record for record in self.records.values() if record.state == "ready")
        return self._keeps_page_scripts or any(record.manifest.runs_scripts_in_page for record in ready)

    @contextmanager
    def page_scripts_kept(self) -> Iterator[None]:
        """A block in which modules are loaded anew: what runs in the page goes on, and may make use of the gap."""
        self._keeps_page_scripts = self.runs_page_scripts
        try:
            yield
        finally:
            self._keeps_page_scripts = False

    def get(self, name: str) -> RegisteredTool:
        """The tool of this name.

        Raises:
            ToolError: `unknown_tool` with near names; `module_stopping` or `module_failed` when it was there.
        """
        tool = self.tools.get(name)
        if tool is not None:
            return tool
        module = self.records.get(self._former.get(name, ""))
        if module is not None and module.state in ("stopping", "loading"):
            raise ToolError(
                "module_stopping",
                f"module {module.name!r} of tool {name!r} is {module.state}; try again in a moment",
                retryable=True,
                module=module.name,
            )
        if module is not None and module.state == "failed":
            raise ToolError(
                "module_failed",
                f"module {module.name!r} of tool {name!r} has failed: {module.reason}",
                module=module.name,
            )
        if (waiting := self._withheld(name)) is not None:
            message = (
                f"tool {name!r} of module {waiting!r} is new, or another than the person has seen, and waits for them "
                "in the approval view"
            )
            raise ToolError("definition_waits", message, retryable=True, tool=name, module=waiting)
        near = near_names(name, self.tools)
        raise ToolError("unknown_tool", unknown_name("tool", name, near), tool=name, near=near)

    def _withheld(self, name: str) -> str | None:
        """The module of a tool that waits for a person; None: there is none of this name."""
        for record in self.records.values():
            if record.state == "ready" and any(tool.definition.name == name for tool in record.withheld):
                return record.name
        return None

    def stood_in_for(self) -> frozenset[str]:
        """Modules whose tools a ready module offers in its own form."""
        ready = (record for record in self.records.values() if record.state == "ready")
        return frozenset(name for record in ready for name in record.manifest.stands_in_for)

    def encoded(self, form: ToolFormat) -> bytes:
        """The list as JSON, put together of the encoded definitions once until the tools change."""
        body = self._encoded.get(form)
        if body is None:
            tools = b",".join([encoded_in(tool, form) for tool in self.tools.values()])
            body = self._encoded[form] = b'{"tools":[' + tools + b"]}"
        return body
