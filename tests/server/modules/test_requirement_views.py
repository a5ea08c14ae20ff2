"""What modules need on the machine: shown, offered to the user, installed with their approval, checked afterwards."""

import asyncio

import pytest

from agentcore.api import Module, RequirementInfo, RequirementStatus, ToolError, tool
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.server.missing_requirements import install_missing
from agentcore.store.record.query import RecordFilter
from agentcore.testing import EventLog
from agentcore.testing.hosting import HostPlan, running_host
from tests.server.approving import MODEL, approver, page


class Press:
    """A program that is missing until it is installed; `way` makes it fail in that way."""

    def __init__(self, way="", **info):
        self.way = way
        self.is_there = False
        self.may_finish = asyncio.Event()
        self.has_started = asyncio.Event()
        self.was_cancelled = False
        self.info = RequirementInfo(
            **{
                "name": "printing_press",
                "title": {"en": "Printing press", "zh": "印刷机"},
                "purpose": "Printing needs one.",
                "command": "agentcore press install",
                "installs": "Downloads a press into your cache.",
                "download_bytes": 170_000_000,
                **info,
            }
        )

    async def check(self):
        if self.way == "check_raises":
            raise RuntimeError("no such floor")
        if self.way == "check_wrong":
            return True
        return RequirementStatus(self.is_there, "/usr/bin/press" if self.is_there else "no press was found")

    async def install(self, report):
        self.has_started.set()
        report({"en": "Downloading", "zh": "正在下载"}, 0.25)
        if self.way == "wrong_progress":
            report("Downloading", "half")
        try:
            await self.may_finish.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        if self.way == "install_fails":
            raise ToolError("download_refused", "the download was refused (404)")
        if self.way == "install_raises":
            raise OSError("disk full")
        self.is_there = self.way != "does_not_help"


class Printer(Module):
    """Prints."""

    name = "printer"

    def __init__(self, press, *, needs_it=False):
        self.press = press
        self.needs_it = needs_it

    async def init(self, runtime):
        runtime.declare_requirement(self.press)
        if self.needs_it and not self.press.is_there:
            raise ToolError("no_press", "there is no press")

    @tool(read_only=True)
    async def print_page(self) -> str:
        """Print."""
        if not self.press.is_there:
            raise ToolError("press_not_found", "no press was found", requirement="printing_press")
        return "printed"


class Copier(Module):
    """Needs the same press."""

    name = "copier"

    def __init__(self, press):
        self.press = press

    async def init(self, runtime):
        runtime.declare_requirement(self.press)


@pytest.fixture
def start(agentcore_client):
    """Starts a server in which a model's calls run without asking."""

    async def started(modules):
        return await agentcore_client(modules, config={"approvals": {"mode": "allow"}})

    return started


@pytest.fixture
def press():
    return Press()


@pytest.fixture
async def server(start, press):
    return await start([Printer(press)])


@pytest.fixture
async def person(server):
    return await approver(server)


async def listed(server):
    async with server.get("/api/requirements") as response:
        return (await response.json())["requirements"]


async def only(server):
    (requirement,) = await listed(server)
    return requirement


async def print_page(server, principal=MODEL):
    outcome = await server.running.host.run_call(CallRequest("print_page", {}, principal, session_id="s1"))
    return outcome.error


async def pending(person):
    return (await person.ask("GET", "/api/approvals"))[1]["changes"]


async def decide(person, change_id, *, approved=True):
    return await person.ask("POST", f"/api/policy-changes/{change_id}/decision", {"approved": approved})


async def settled(server):
    async with asyncio.timeout(20):
        return await server.running.host.requirements.wait_for_installation("printing_press")


async def test_a_requirement_is_shown_with_its_state(server):
    assert await only(server) == {
        "name": "printing_press",
        "host": "",
        "modules": ["printer"],
        "title": {"en": "Printing press", "zh": "印刷机"},
        "purpose": "Printing needs one.",
        "installs": "Downloads a press into your cache.",
        "command": "agentcore press install",
        "downloadBytes": 170_000_000,
        "isRequired": True,
        "isInstallable": True,
        "state": "missing",
        "text": "no press was found",
        "progress": None,
        "fraction": None,
        "error": "",
        "isDeclined": False,
        "changeId": "",
    }


async def test_what_two_modules_need_is_one_requirement(start, press):
    server = await start([Printer(press), Copier(press)])
    assert (await only(server))["modules"] == ["printer", "copier"]


async def test_a_check_after_an_installation_by_hand_finds_it(server, press):
    assert (await only(server))["state"] == "missing"
    press.is_there = True
    async with server.post("/api/requirements/check", json={}) as response:
        (requirement,) = (await response.json())["requirements"]
    assert (requirement["state"], requirement["text"]) == ("met", "/usr/bin/press")


async def test_the_page_asks_and_the_user_approves_and_it_is_installed_with_progress(server, press, person):
    events = EventLog(server.running.host.events)
    status, answer = await (await page(server)).ask("POST", "/api/requirements/printing_press/install", {})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert not press.has_started.is_set()
    (change,) = await pending(person)
    assert (change["kind"], change["subject"]) == ("install", "Printing press")
    text = change["diff"][0]["text"]
    assert all(part in text for part in ("Printing needs one.", "into your cache", "170 MB", "agentcore press install"))
    assert (await only(server))["changeId"] == change["changeId"] == answer["error"]["context"]["changeId"]

    assert (await decide(person, change["changeId"]))[0] == 200
    await press.has_started.wait()
    requirement = await only(server)
    assert (requirement["state"], requirement["progress"]) == ("installing", {"en": "Downloading", "zh": "正在下载"})
    assert requirement["fraction"] == 0.25
    press.may_finish.set()
    await settled(server)
    assert ((await only(server))["state"], (await only(server))["changeId"]) == ("met", "")
    (progress,) = events.of("requirement.progress")
    assert (progress["name"], progress["fraction"]) == ("printing_press", 0.25)
    assert progress["text"] == {"en": "Downloading", "zh": "正在下载"}
    assert events.of("requirement.changed")[-1]["state"] == "met"
    assert await print_page(server) is None


async def test_a_failed_call_says_what_happens_and_asks_the_user_once(server, press, person):
    error = await print_page(server)
    assert (error.type, error.retryable) == ("press_not_found", True)
    assert error.message.startswith("no press was found. The user is now asked, in the approval view, to install it")
    assert "170 MB" in error.message
    context = {"requirement": "printing_press", "installation": "pending", "command": "agentcore press install"}
    assert error.context == context
    await print_page(server)
    (change,) = await pending(person)
    assert change["askedBy"]["kind"] == "chat"
    assert change["expiresAt"] is None
    # the page asks for the same, and is sent to the decision that is pending already
    _, answer = await (await page(server)).ask("POST", "/api/requirements/printing_press/install", {})
    assert answer["error"]["context"]["changeId"] == change["changeId"]

    await decide(person, change["changeId"])
    await press.has_started.wait()
    error = await print_page(server)
    assert (error.context["installation"], error.retryable) == ("installing", True)
    press.may_finish.set()
    await settled(server)
    assert await print_page(server) is None


async def test_what_the_user_declined_is_not_offered_again_and_stays_visible(server, press, person):
    await print_page(server)
    (change,) = await pending(person)
    assert (await decide(person, change["changeId"], approved=False))[0] == 200
    error = await print_page(server)
    assert (error.context["installation"], error.retryable) == ("declined", False)
    assert "The user declined to install it" in error.message
    assert await pending(person) == []
    requirement = await only(server)
    assert (requirement["state"], requirement["isDeclined"]) == ("missing", True)
    # the user themselves can still ask for it
    _, answer = await (await page(server)).ask("POST", "/api/requirements/printing_press/install", {})
    press.may_finish.set()
    await decide(person, answer["error"]["context"]["changeId"])
    await settled(server)
    assert ((await only(server))["state"], (await only(server))["isDeclined"]) == ("met", False)


async def test_what_was_declined_is_remembered_over_a_restart(tmp_path):
    plan = HostPlan([Printer(Press())])
    async with running_host(plan, tmp_path) as running:
        change = running.host.requirements.propose_installation("printing_press", MODEL)
        await running.host.policy_changes.decide_change(change.change_id, approved=False, by="person")
    async with running_host(HostPlan([Printer(Press())]), tmp_path) as running:
        (requirement,) = await running.host.requirements.check_all()
        assert requirement.is_declined


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("install_fails", "the download was refused (404)"),
        ("install_raises", "installing 'printing_press' failed: OSError: disk full"),
        ("does_not_help", "it was installed, and still does not work: no press was found"),
        ("wrong_progress", "fraction of the progress of requirement 'printing_press' of module 'printer'"),
    ],
)
async def test_a_failed_installation_stays_visible_with_its_reason(start, way, reason):
    press = Press(way)
    server = await start([Printer(press)])
    press.may_finish.set()
    server.running.host.requirements.start_installation("printing_press")
    await settled(server)
    requirement = await only(server)
    assert requirement["state"] == "missing"
    assert reason in requirement["error"]
    rows = await server.running.host.store.record.read_page(wanted=RecordFilter(kind="notice"))
    assert "requirement_failed" in {recorded.row.outcome for recorded in rows}


async def test_an_installation_is_cancelled_by_the_user_and_by_the_emergency_stop(server, press):
    requirements = server.running.host.requirements
    requirements.start_installation("printing_press")
    await press.has_started.wait()
    async with server.delete("/api/requirements/printing_press/install") as response:
        answer = await response.json()
    assert (answer["state"], press.was_cancelled) == ("missing", True)

    press.was_cancelled = False
    press.has_started.clear()
    requirements.start_installation("printing_press")
    await press.has_started.wait()
    await server.running.host.emergency_stop(Principal("cli"))
    await settled(server)
    assert press.was_cancelled


@pytest.mark.parametrize(
    ("way", "text"),
    [
        ("check_raises", "it could not be checked: RuntimeError: no such floor"),
        ("check_wrong", "it could not be checked: WrongValueError: the status of requirement"),
    ],
)
async def test_a_check_that_goes_wrong_counts_as_missing(start, way, text):
    server = await start([Printer(Press(way))])
    requirement = await only(server)
    assert requirement["state"] == "missing"
    assert requirement["text"].startswith(text)


async def test_a_module_that_failed_for_want_of_it_is_started_again(make_server, press):
    server = await make_server(Printer(press, needs_it=True))
    assert server.host.modules.get_record("printer").state == "failed"
    (requirement,) = (await server.get("/api/requirements"))[1]["requirements"]
    assert (requirement["state"], requirement["modules"]) == ("missing", ["printer"])
    press.may_finish.set()
    server.host.requirements.start_installation("printing_press")
    async with asyncio.timeout(20):
        await server.host.requirements.wait_for_installation("printing_press")
    assert server.host.modules.get_record("printer").state == "ready"


async def test_what_only_the_user_can_install_is_shown_with_its_command(start):
    server = await start([Printer(Press(is_installable=False))])
    error = await print_page(server)
    assert (error.context["installation"], error.retryable) == ("manual", False)
    assert error.message.endswith("The user can install it with: agentcore press install")
    status, answer = await (await page(server)).ask("POST", "/api/requirements/printing_press/install", {})
    assert (status, answer["error"]["type"]) == (400, "requirement_not_installable")
    status, answer = await (await page(server)).ask("POST", "/api/requirements/presses/install", {})
    assert (status, answer["error"]["type"]) == (404, "requirement_not_found")


async def test_an_error_that_names_a_requirement_of_nobody_is_left_as_it_is(start):
    class Liar(Module):
        name = "liar"

        @tool(read_only=True)
        async def print_page(self) -> str:
            """Print."""
            raise ToolError("press_not_found", "no press", requirement="printing_press")

    server = await start([Liar()])
    error = await print_page(server)
    assert (error.message, error.context) == ("no press", {"requirement": "printing_press"})


async def test_in_a_container_the_server_installs_it_by_itself_and_says_so(server, press):
    lines = []
    press.may_finish.set()
    await server.running.host.requirements.check_all()
    await install_missing(server.running.host.requirements, server.running.host.config.locale, lines.append)
    assert lines == [
        "Installing in the background: Printing press (about 170 MB). The server can be used meanwhile.",
        "Installed: Printing press: /usr/bin/press",
    ]
    assert await print_page(server) is None


async def test_where_that_fails_the_reason_is_shown(start):
    press = Press("install_fails")
    server = await start([Printer(press)])
    lines = []
    press.may_finish.set()
    await server.running.host.requirements.check_all()
    await install_missing(server.running.host.requirements, server.running.host.config.locale, lines.append)
    assert lines[1] == "Printing press could not be installed: the download was refused (404)"


async def test_what_is_only_recommended_or_was_declined_is_not_installed_by_itself(start):
    press = Press(is_required=False)
    server = await start([Printer(press)])
    lines = []
    await server.running.host.requirements.check_all()
    await install_missing(server.running.host.requirements, server.running.host.config.locale, lines.append)
    assert not press.has_started.is_set()
    assert lines == []
