"""Views of a server's tools: read strictly, and no more of them accepted than was declared and seen."""

import pytest

from agentcore.api import ToolView

pytestmark = pytest.mark.processes


def definitions(host):
    return {name: tool.definition for name, tool in host.host.registry.tools.items()}


async def test_view_of_a_tool_is_read_with_what_it_may_and_nothing_else(mount, odd):
    tools = definitions(await mount(odd("views")))
    view = tools["example_show"].view
    assert isinstance(view, ToolView)
    assert view.document == "<!doctype html><p>A view"
    assert view.connects_to == ("https://api.example.com", "wss://api.example.com:8443")
    assert view.loads_from == ("https://*.example.com",)
    assert view.frames == ("https://frames.example.com",)
    assert view.bases == ()
    assert view.permissions == ("camera", "clipboard-write")
    assert tools["example_show_old"].view == view


async def test_view_that_comes_without_a_word_may_what_the_list_of_resources_says(mount, odd):
    """What the document itself comes with is the only word, where there is one."""
    tools = definitions(await mount(odd("listed_views")))
    bare, own, empty, unlisted = (tools[f"example_{name}"].view for name in ("bare", "view", "empty", "unlisted"))
    assert (bare.loads_from, bare.permissions, bare.has_border) == (("https://listed.example.com",), ("camera",), False)
    assert (own.loads_from, own.permissions) == (("https://*.example.com",), ("camera", "clipboard-write"))
    for view in (empty, unlisted):
        assert (view.loads_from, view.permissions, view.has_border) == ((), (), None)


async def test_tools_are_for_views_for_models_or_for_both(mount, odd):
    tools = definitions(await mount(odd("views")))
    assert (tools["example_show"].in_views, tools["example_show"].served_as) == ("show", None)
    assert tools["example_show_old"].in_views == "show.old"
    assert (tools["example_again"].in_views, tools["example_again"].served_as) == ("again", "view")
    assert (tools["example_own"].in_views, tools["example_own"].served_as) == (None, None)
    assert tools["example_resources_read"].in_views is None
    reads = tools["example_view_resources"]
    assert (reads.in_views, reads.served_as) == ("resources/read", "view")


async def test_a_tool_for_views_alone_that_names_a_view_is_offered_to_views(mount, odd):
    redraw = definitions(await mount(odd("views")))["example_redraw"]
    assert (redraw.in_views, redraw.served_as, redraw.view) == ("redraw", "view", None)


@pytest.mark.parametrize("name", ["elsewhere", "plain", "large", "missing", "strange"])
async def test_tool_whose_view_cannot_be_shown_goes_on_without(mount, odd, name):
    host = await mount(odd("views", trust_annotations=True))
    assert definitions(host)[f"example_{name}"].view is None
    assert (await host.call(f"example_{name}")).blocks()[0].text == "done"


async def test_view_reads_what_its_server_keeps(mount, odd):
    host = await mount(odd("views"))
    read = await host.call("example_view_resources", uri="notes://today")
    assert read.data["contents"][0] | {} == {
        "uri": "notes://today",
        "mimeType": "text/plain",
        "text": "Water the plants.",
    }


async def test_person_sees_the_view_and_what_it_may_before_anybody_is_offered_the_tool(mount, odd):
    host = await mount(odd("views"), accepts_definitions=False)
    assert "example_show" not in definitions(host)
    (change,) = host.host.policy_changes.waiting
    shown = dict(change.proposal.diff)["example_show"]
    for said in ("sha256", "https://api.example.com", "https://*.example.com", "clipboard-write", "called by views as"):
        assert said in shown
    assert "127.0.0.1" not in shown
