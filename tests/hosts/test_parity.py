"""What a module gets of its host is the same in both places, also where the module uses it wrongly."""

from agentcore.api import Module, ToolContext, ToolError, tool


class Clumsy(Module):
    """Uses what it was given in ways that it may not."""

    @tool(read_only=True)
    async def slip(self, ctx: ToolContext, how: str) -> str:
        """Do something wrong, and say what came of it."""
        link = await ctx.artifacts.save(b"one\ntwo\n", mime="text/plain", name="a.txt")
        ways = {
            "save": lambda: ctx.artifacts.save(b"x", mime=3, name="a.txt"),
            "no lines": lambda: ctx.artifacts.lines(link.artifact_id, 1, limit=0, chars=10),
            "no hits": lambda: ctx.artifacts.find_lines(link.artifact_id, "two", 1, limit=0),
            "ask": lambda: ctx.ask("Which?", options=["a", "b"], timeout_s=5),
            "call": lambda: ctx.call("slip", {"how": 3}),
            "unknown": lambda: ctx.artifacts.load("gone"),
        }
        try:
            found = await ways[how]()
        except ToolError as exc:
            return exc.type
        except TypeError:
            return "TypeError"
        return repr(found)


WAYS = ("save", "no lines", "no hits", "ask", "call", "unknown")


async def test_wrong_use_of_a_call_ends_as_it_does_in_the_server(agentcore_host):
    there = await agentcore_host(modules=[Clumsy()], isolation="process")
    here = await agentcore_host(modules=[Clumsy()], isolation="server")
    ended_there = {how: (await there.told("slip", how=how)).blocks() for how in WAYS}
    ended_here = {how: (await here.told("slip", how=how)).blocks() for how in WAYS}
    assert ended_there == ended_here
