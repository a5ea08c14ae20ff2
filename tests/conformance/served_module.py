"""What the official suite of MCP calls, as a module: tools, prompts and resources under the names that it wants."""

import asyncio
from base64 import b64decode
from typing import Any

from agentcore.api import Audio, EmbeddedResource, Image, Module, Text, ToolContext, ToolError, ToolResult, tool

PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
WAV = b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")
EMBEDDED = EmbeddedResource("test://embedded-resource", "This is an embedded resource content.", "text/plain")
OWN = ["session"]
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]
CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


def form(title: str, **properties: str) -> dict[str, Any]:
    """A form of fields of these types, all required."""
    fields = {name: {"type": kind} for name, kind in properties.items()}
    return {"title": title, "type": "object", "properties": fields, "required": list(fields)}


class Conformance(Module):
    """What the suite calls."""

    # -- tools -------------------------------------------------------------------------------------------------

    @tool(effects=OWN)
    async def test_simple_text(self) -> str:
        """Give a text."""
        return "This is a simple text response for testing."

    @tool(effects=OWN)
    async def test_image_content(self) -> Image:
        """Give a picture."""
        return Image(PNG, "image/png")

    @tool(effects=OWN)
    async def test_audio_content(self) -> Audio:
        """Give a sound."""
        return Audio(WAV, "audio/wav")

    @tool(effects=OWN)
    async def test_embedded_resource(self) -> EmbeddedResource:
        """Give a document."""
        return EMBEDDED

    @tool(effects=OWN)
    async def test_multiple_content_types(self) -> ToolResult:
        """Give several things."""
        document = EmbeddedResource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
        return ToolResult((Text("Multiple content types test:"), Image(PNG, "image/png"), document))

    @tool(effects=OWN)
    async def test_error_handling(self) -> str:
        """Fail."""
        raise ToolError("test_error", "This tool intentionally returns an error for testing")

    @tool(effects=OWN)
    async def test_tool_with_progress(self, ctx: ToolContext) -> str:
        """Tell of progress."""
        for fraction in (0.0, 0.5, 1.0):
            ctx.progress(fraction, f"{fraction:.0%}")
            await asyncio.sleep(0.3)  # progress is told at intervals
        return "done"

    @tool(effects=OWN)
    async def test_logging_tool(self, ctx: ToolContext) -> str:
        """Say what a client hears that has asked for it."""
        ctx.log("logged")
        return "logged"

    @tool(effects=OWN)
    async def test_tool_with_logging(self, ctx: ToolContext) -> str:
        """Say what happens."""
        for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            ctx.log(message)
            await asyncio.sleep(0.05)  # the suite wants them one by one
        return "logged"

    @tool(effects=OWN)
    async def test_trigger_tool_change(self) -> str:
        """Change the list of tools."""
        self.runtime.tools_changed()
        return "changed"

    @tool(effects=OWN)
    async def test_trigger_prompt_change(self) -> str:
        """Change the list of prompts."""
        self.runtime.tools_changed()
        return "changed"

    # -- asking the client ---------------------------------------------------------------------------------------

    @tool(effects=OWN)
    async def test_missing_capability(self, ctx: ToolContext) -> str:
        """Need a model of the client's."""
        return await ctx.sample("Say hello.")

    @tool(effects=OWN)
    async def test_streaming_elicitation(self, ctx: ToolContext) -> str:
        """Tell of progress, and ask."""
        ctx.progress(0.5, "asking")
        return f"Hello, {(await ctx.ask('What is your name?', schema=form('user_name', name='string')))['name']}!"

    @tool(effects=OWN)
    async def test_input_required_result_elicitation(self, ctx: ToolContext) -> str:
        """Ask for a name."""
        answer = await ctx.ask("What is your name?", schema=form("user_name", name="string"))
        return f"Hello, {answer['name']}!"

    @tool(effects=OWN)
    async def test_input_required_result_sampling(self, ctx: ToolContext) -> str:
        """Have the client's model write."""
        return await ctx.sample("What is the capital of France?", max_tokens=100)

    @tool(effects=OWN)
    async def test_input_required_result_list_roots(self, ctx: ToolContext) -> str:
        """Name the client's roots."""
        return ", ".join(await ctx.client_roots())

    @tool(effects=OWN)
    async def test_input_required_result_request_state(self, ctx: ToolContext) -> str:
        """Ask for a word, which the state brings back here."""
        await ctx.ask("Please confirm", schema=form("confirm", ok="boolean"))
        return "state-ok"

    @tool(effects=OWN)
    async def test_input_required_result_tampered_state(self, ctx: ToolContext) -> str:
        """Ask for a word."""
        await ctx.ask("Please confirm", schema=form("confirm", ok="boolean"))
        return "confirmed"

    @tool(effects=OWN)
    async def test_input_required_result_multiple_inputs(self, ctx: ToolContext) -> str:
        """Want three things at once."""
        name, greeting, roots = await asyncio.gather(
            ctx.ask("What is your name?", schema=form("user_name", name="string")),
            ctx.sample("Generate a greeting", max_tokens=50),
            ctx.client_roots(),
        )
        return f"{greeting} {name['name']} of {', '.join(roots)}"

    @tool(effects=OWN)
    async def test_input_required_result_multi_round(self, ctx: ToolContext) -> str:
        """Ask twice."""
        name = await ctx.ask("Step 1: What is your name?", schema=form("step1", name="string"))
        color = await ctx.ask("Step 2: What is your favorite color?", schema=form("step2", color="string"))
        return f"{name['name']} likes {color['color']}"

    @tool(effects=OWN)
    async def test_input_required_result_capabilities(self, ctx: ToolContext) -> str:
        """Ask for what the client has."""
        wishes = (ctx.ask("Name?", schema=form("user_name", name="string")), ctx.sample("Hello"), ctx.client_roots())
        await asyncio.gather(*wishes, return_exceptions=True)
        return "done"

    @tool(effects=OWN)
    async def test_sampling(self, ctx: ToolContext, prompt: str) -> str:
        """Have the client's model answer."""
        return f"LLM response: {await ctx.sample(prompt, max_tokens=100)}"

    @tool(effects=OWN)
    async def test_elicitation(self, ctx: ToolContext, message: str) -> str:
        """Ask for what the message says."""
        return f"User response: {await ctx.ask(message, schema=form('user', username='string', email='string'))}"

    @tool(effects=OWN)
    async def test_elicitation_sep1034_defaults(self, ctx: ToolContext) -> str:
        """Ask with defaults."""
        return f"Elicitation completed: {await ctx.ask('Please review', schema=DEFAULTS)}"

    @tool(effects=OWN)
    async def test_elicitation_sep1330_enums(self, ctx: ToolContext) -> str:
        """Ask for choices."""
        return f"Elicitation completed: {await ctx.ask('Please choose', schema=CHOICES)}"

    # -- prompts -------------------------------------------------------------------------------------------------

    @tool(effects=OWN, served_as="prompt")
    async def test_simple_prompt(self) -> str:
        """A prompt without arguments."""
        return "This is a simple prompt for testing."

    @tool(effects=OWN, served_as="prompt")
    async def test_prompt_with_arguments(self, arg1: str, arg2: str) -> str:
        """A prompt with arguments.

        Args:
            arg1: First test argument.
            arg2: Second test argument.
        """
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @tool(effects=OWN, served_as="prompt")
    async def test_prompt_with_embedded_resource(self, resourceUri: str) -> ToolResult:  # noqa: N803 - the suite's word
        """A prompt with a document.

        Args:
            resourceUri: URI of the resource to embed.
        """
        document = EmbeddedResource(resourceUri, "Embedded resource content for testing.", "text/plain")
        return ToolResult((document, Text("Please process the embedded resource above.")))

    @tool(effects=OWN, served_as="prompt")
    async def test_prompt_with_image(self) -> ToolResult:
        """A prompt with a picture."""
        return ToolResult((Image(PNG, "image/png"), Text("Please analyze the image above.")))

    @tool(effects=OWN, served_as="prompt")
    async def test_input_required_result_prompt(self, ctx: ToolContext) -> str:
        """A prompt that asks."""
        answer = await ctx.ask("What context should the prompt use?", schema=form("user_context", context="string"))
        return f"Use this context: {answer['context']}"

    # -- resources -----------------------------------------------------------------------------------------------

    @tool(effects=OWN, served_as="test://static-text")
    async def test_static_text(self) -> str:
        """A text."""
        return "This is the content of the static text resource."

    @tool(effects=OWN, served_as="test://watched-resource")
    async def test_watched_resource(self) -> str:
        """A text that clients watch."""
        return "Watched."

    @tool(effects=OWN, served_as="test://static-binary")
    async def test_static_binary(self) -> Image:
        """A picture."""
        return Image(PNG, "image/png")

    @tool(effects=OWN, served_as="test://template/{id}/data")
    async def test_template(self, id: str) -> EmbeddedResource:  # noqa: A002 - the suite's word
        """Data of an id."""
        text = f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'
        return EmbeddedResource(f"test://template/{id}/data", text, "application/json")
