"""The tools of `browser`: the session's own page."""

from base64 import b64decode

import pytest

from agentcore.api import Image
from agentcore.api.tool_context import Principal

pytestmark = pytest.mark.spec("B2")


async def test_nothing_runs_until_something_is_done(act, host, session):
    assert (await act("browser_get_state")).data == {"running": False}
    assert host.host.resources.list(session_id=session) == []


async def test_session_has_a_page_of_its_own_and_results_name_it(act, site, session):
    result = await act("browser_navigate", url=site.url("/"))
    assert result.data["resourceId"] == f"browser_{session}_0"
    assert result.data["title"] == "Home"
    state = (await act("browser_get_state")).data
    assert (state["running"], state["url"], state["loadState"]) == (True, site.url("/"), "load")


@pytest.mark.more
async def test_title_is_what_the_page_gives_itself_when_it_has_loaded(act, site):
    assert (await act("browser_navigate", url=site.url("/titled"))).data["title"] == "Loaded"
    assert (await act("browser_reload")).data["title"] == "Loaded"
    within = await act("browser_navigate", url=site.url("/titled#part"))
    assert (within.data["title"], within.data["url"]) == ("Loaded", site.url("/titled#part"))


async def test_page_that_keeps_its_events_to_itself_still_has_a_title(act, site):
    assert (await act("browser_navigate", url=site.url("/deaf"))).data["title"] == "Deaf"


@pytest.mark.more
async def test_launch_says_when_it_runs_already_and_opens_further_pages(act, session):
    first = await act("browser_launch", viewport={"width": 800, "height": 600})
    again = await act("browser_launch")
    further = await act("browser_launch", new_page=True)
    assert [one.data["started"] for one in (first, again, further)] == [True, False, True]
    assert further.data["resourceId"] == f"browser_{session}_1"
    assert (await act("browser_evaluate", script="innerWidth")).data["value"] == 800


async def test_page_is_driven_by_selectors_places_and_keys(act, site):
    await act("browser_navigate", url=site.url("/form"))
    await act("browser_type", selector="[name=name]", text="new", delay=1)
    await act("browser_press_key", key="a", modifiers=["Control"])
    await act("browser_press_key", key="Shift+X")
    assert (await act("browser_evaluate", script="document.querySelector('[name=name]').value")).data["value"] == "X"
    place = (
        await act(
            "browser_evaluate",
            script="JSON.parse(JSON.stringify(document.querySelector('form > button').getBoundingClientRect()))",
        )
    ).data["value"]
    await act("browser_click", x=place["x"] + 5, y=place["y"] + 5)
    assert "name=X" in (await act("browser_get_dom", selector="#out")).data["dom"]
    await act("browser_hover", selector="[name=agree]")
    assert (await act("browser_scroll", direction="to_bottom")).data["scrollTop"] >= 0


async def test_history_goes_back_and_forward(act, fails, site):
    await act("browser_navigate", url=site.url("/"))
    await act("browser_navigate", url=site.url("/second"))
    assert (await act("browser_go_back")).data["url"] == site.url("/")
    assert (await act("browser_go_forward")).data["url"] == site.url("/second")
    assert (await act("browser_reload")).data["title"] == "Second"
    assert (await fails("browser_go_forward")).type == "navigation_failed"


@pytest.mark.more
async def test_dom_is_a_tree_of_lines(act, site):
    await act("browser_navigate", url=site.url("/shadow"))
    dom = (await act("browser_get_dom")).data["dom"]
    assert dom.splitlines() == ["<body></body>", "  <div#host></div>", "    <button>Inside</button>"]
    assert "..." in (await act("browser_get_dom", max_depth=1)).data["dom"]


@pytest.mark.more
async def test_waiting_needs_something_to_wait_for(act, fails, site):
    await act("browser_navigate", url=site.url("/"))
    assert (await fails("browser_wait_for")).type == "invalid_arguments"
    assert (await fails("browser_wait_for", selector="#no", timeoutMs=100)).type == "wait_timeout"
    await act("browser_wait_for", text="Welcome")
    await act("browser_wait_for", condition="true")


@pytest.mark.more
async def test_condition_is_waited_for_where_the_page_allows_no_evaluation(act, fails, site):
    await act("browser_navigate", url=site.url("/strict"))
    for name, form in (("a", "{}"), ("b", "{};"), ("c", "() => {}"), ("d", "new Promise(done => done({}))")):
        # not so at the first looks
        await act("browser_wait_for", condition=form.format(f"(window.{name} = (window.{name} || 0) + 1) > 3"))
    assert (await fails("browser_wait_for", condition="1 +")).type == "evaluation_error"
    assert (await fails("browser_wait_for", condition="nothing.is")).type == "evaluation_error"
    await act("browser_navigate", url=site.url("/"))
    await act("browser_wait_for", condition="const ready = document.readyState; ready === 'complete'")


async def test_screenshot_is_an_artifact_a_file_or_the_picture_itself(act, site, host):
    await act("browser_navigate", url=site.url("/"))
    assert (await act("browser_screenshot")).data["artifactId"]
    await act("browser_screenshot", path="shots/home.png")
    assert (host.workspace / "shots" / "home.png").read_bytes().startswith(b"\x89PNG")
    inline = await act("browser_screenshot", inline=True)
    assert set(inline.data) >= {"mime", "dataBase64", "resourceId"}
    assert b64decode(inline.data["dataBase64"]).startswith(b"\x89PNG")
    assert Image not in map(type, inline.blocks())


async def test_model_is_sent_the_picture_itself_once(act, site, session, host):
    await act("browser_navigate", url=site.url("/"))
    (page,) = host.host.resources.list(session_id=session)
    result = await host.told("browser_screenshot", resourceId=page.resource_id, inline=True)
    assert [type(block) for block in result.blocks()].count(Image) == 1
    assert result.data["mime"] == "image/png"
    assert "dataBase64" not in result.data


@pytest.mark.more
@pytest.mark.spec("K9")
@pytest.mark.parametrize(
    ("arguments", "size"),
    [({}, (800, 450)), ({"full_page": True, "path": "a.png"}, (400, 800)), ({"selector": "#part"}, (200, 100))],
)
async def test_model_is_shown_a_screenshot_small(act, host, site, session, arguments, size):
    await act("browser_navigate", url=site.url("/"))
    await act(
        "browser_evaluate",
        script="document.body.innerHTML = '<p style=height:3000px>.</p><div id=part style=width:200px;height:100px>.'",
    )
    (page,) = host.host.resources.list(session_id=session)
    result = await host.told("browser_screenshot", resourceId=page.resource_id, **arguments)
    (picture,) = [block for block in result.blocks() if isinstance(block, Image)]
    assert picture.mime == "image/jpeg"
    assert jpeg_size(picture.data) == size


def jpeg_size(data):
    """Width and height, from the header of the frame."""
    at = 2
    while data[at + 1] not in (0xC0, 0xC2):
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")


@pytest.mark.more
@pytest.mark.parametrize("kind", ["chat", "mcp"])
async def test_names_of_other_servers_are_understood_from_models(host, site, kind):
    """And those that say nothing here are left out; what the result says is the right name."""
    host.answer_approvals(approve=True)

    async def ask(tool, **arguments):
        principal = Principal(kind, id="test")
        outcome = await host.outcome(tool, arguments, principal=principal, session_id=f"names-{kind}")
        return outcome.unwrap()

    await ask("browser_navigate", url=site.url("/"), timeout=20_000)
    snapshot = (await ask("browser_snapshot", find="Second")).blocks()[0].text
    ref = snapshot.split("[ref=")[1].split("]", maxsplit=1)[0]
    await ask("browser_hover", element="the link", target=ref)
    await ask("browser_click", element="the link", ref=ref)
    assert (await ask("browser_evaluate", function="() => document.title")).data["value"] == "Second"
    await ask("browser_wait_for", text="Home", timeout=5000)
    await ask("browser_get_dom", ref="body", maxDepth=2)
    assert (await ask("browser_screenshot", fullPage=True, type="jpeg")).data["mime"] == "image/jpeg"
    await ask("browser_evaluate", expression="document.body.innerHTML = '<input><p draggable=true>.'; 1")
    await ask("browser_type", target="input", element="field", text="x", slowly=True)
    await ask("browser_drag", startElement="p", startRef="p", endElement="field", endRef="input")


@pytest.mark.more
async def test_wait_has_the_limit_of_all_tools_and_its_old_name(fails, site, act):
    await act("browser_navigate", url=site.url("/"))
    assert "waited 250 ms" in str(await fails("browser_wait_for", selector="#no", timeoutMs=250))
    assert "waited 260 ms" in str(await fails("browser_wait_for", selector="#no", timeout=260))


@pytest.mark.more
async def test_action_tells_what_changed_when_asked(act, site):
    await act("browser_navigate", url=site.url("/form"))
    await act("browser_snapshot")
    result = await act("browser_click", selector="text=Send", snapshot=True)
    assert any("name=old" in line for line in result.data["changes"])
    assert not any("hunter2" in line for line in result.data["changes"] if "textbox" in line)


@pytest.mark.spec("K7")
async def test_model_reaches_only_the_pages_of_its_own_session(act, host, site, session):
    await act("browser_navigate", url=site.url("/"))
    host.answer_approvals(approve=True)
    outcome = await host.outcome(
        "browser_get_dom",
        {"resourceId": f"browser_{session}_0"},
        principal=Principal("chat", "other"),
        session_id="another",
    )
    assert outcome.error is not None
    assert outcome.error.type == "resource_not_found"


async def test_sessions_do_not_share_cookies(act, site):
    for name in ("one", "two"):
        await act("browser_navigate", session_id=f"cookies-{name}", url=site.url("/"))
    await act("browser_evaluate", session_id="cookies-one", script="document.cookie = 'a=1'")
    assert (await act("browser_evaluate", session_id="cookies-two", script="document.cookie")).data["value"] == ""
