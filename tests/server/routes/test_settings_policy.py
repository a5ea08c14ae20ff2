"""Which changes of settings wait for a person, and that what a person confirms is what is written."""

import json
from typing import Annotated, Any

import pytest

from agentcore.api import Field, Module, tool
from tests.server.approving import approver, page

pytestmark = [pytest.mark.spec("K5"), pytest.mark.spec("K3"), pytest.mark.spec("S2")]

HARMLESS: dict[str, Any] = {"x-harmless": True}
LAMP = '''
from typing import Annotated, Any

from agentcore.api import BaseModel, Field, Module, tool

HARMLESS = {{"x-harmless": True}}

class Bulb(BaseModel):
    model_config = {{"extra": "forbid"}}
    watts: Annotated[int, Field(json_schema_extra=HARMLESS)] = 60
    maker: str = "nobody"

class Lamp(Module):
    """A lamp."""

    class Settings(Module.Settings):
        level: Annotated[{level}, Field(json_schema_extra=HARMLESS)] = 1
        colour: str = "white"
        run_args: Annotated[bool, Field(json_schema_extra=HARMLESS)] = False
        hint: Annotated[str, Field(json_schema_extra={{"x-harmless": True, "enum": ["a", "b"]}})] = "a"
        bulb: Bulb = Bulb(maker="me")
        spare: Bulb | None = None
        {more}

    @tool(read_only=True)
    async def lamp_level(self) -> int:
        """The level."""
        return self.settings.level
'''


def lamp(level: str = "int", more: str = "") -> str:
    return LAMP.format(level=level, more=more)


@pytest.fixture
async def server(agentcore_client):
    server = await agentcore_client()
    server.folder = server.running.host.config.file.parent
    (server.folder / "modules").mkdir()
    (server.folder / "modules" / "lamp.py").write_text(lamp())
    await server.post("/api/modules/lamp/enable", json={})
    assert server.running.host.modules.get_record("lamp").state == "ready"
    return server


@pytest.fixture
async def of_page(server):
    return await page(server)


@pytest.fixture
async def person(server):
    return await approver(server)


async def put(asker, *changes: dict[str, Any], module: str = "lamp", query: str = "", **more: Any):
    path = f"/api/settings/modules/{module}"
    digest = (await asker.ask("GET", path))[1]["digest"]
    return await asker.ask("PUT", path + query, {"expected": digest, "changes": list(changes), **more})


def own(server) -> Any:
    file = server.folder / "modules" / "lamp.json"
    return json.loads(file.read_text()) if file.exists() else None


async def waiting(server) -> list[Any]:
    return server.running.host.policy_changes.waiting


async def confirm(person, answer, *, approved: bool = True):
    change_id = answer["error"]["context"]["changeId"]
    return await person.ask("POST", f"/api/policy-changes/{change_id}/decision", {"approved": approved})


LEVEL = {"path": "/level", "value": 3}
COLOUR = {"path": "/colour", "value": "red"}


async def test_harmless_change_is_saved_at_once(server, of_page):
    status, view = await put(of_page, LEVEL)
    assert (status, own(server)) == (200, {"level": 3})
    assert "/level" not in view["policy"]
    status, _ = await put(of_page, {"path": "/level", "remove": True})
    assert (status, own(server)) == (200, {})


async def test_one_setting_that_is_not_harmless_has_all_of_a_save_wait(server, of_page, person):
    status, shown = await put(of_page, LEVEL, COLOUR, query="?preview=diff")
    assert (status, shown["needsConfirmation"]) == (200, True)
    status, answer = await put(of_page, LEVEL, COLOUR)
    assert (status, answer["error"]["type"], own(server)) == (403, "confirmation_required", None)
    (change,) = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    assert (change["kind"], change["subject"], change["paths"]) == ("settings", "lamp", ["/level", "/colour"])
    assert await confirm(person, answer) == (200, {"ok": True})
    assert own(server) == {"level": 3, "colour": "red"}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"path": "/run_args", "value": True}, id="a name that tells of programs"),
        pytest.param({"path": "/hint", "value": "x"}, id="a text that only hints at choices"),
        pytest.param({"path": "/level", "value": "3"}, id="a text in place of a number"),
        pytest.param({"path": "/bulb/watts", "value": 40}, id="it undoes what the default says of others"),
        pytest.param({"path": "/spare/watts", "value": 40}, id="it brings something else into being"),
        pytest.param({"path": "/colour", "value": "white"}, id="the default again"),
    ],
)
async def test_mark_does_not_do_where_more_changes_than_it_may_speak_of(server, of_page, change):
    status, answer = await put(of_page, change)
    assert (status, answer["error"]["type"], own(server)) == (403, "confirmation_required", None)


async def test_settings_that_do_not_hold_are_mended_with_a_confirmation(server, of_page):
    """Nobody can say what becomes of them: a person's own slip, or something that waits to be let in."""
    (server.folder / "modules" / "lamp.json").write_text('{"colour": "red", "levle": 2}')
    status, answer = await put(of_page, {"path": "/levle", "remove": True})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    status, answer = await put(of_page, LEVEL)
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")


async def test_setting_is_harmless_only_where_it_is_for_each_module_that_reads_it(server, of_page):
    source = lamp().replace("class Lamp(", "class Torch(").replace("lamp_level", "torch_level")
    source = source.replace("Field(json_schema_extra=HARMLESS)] = 1", "Field()] = 1").replace(
        '"""A lamp."""', '"""A torch."""\n\n    config_key = "lamp"'
    )
    (server.folder / "modules" / "torch.py").write_text(source)
    await server.post("/api/modules/torch/enable", json={})
    assert server.running.host.modules.get_record("torch").state == "ready"
    status, answer = await put(of_page, LEVEL)
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    _, view = await of_page.ask("GET", "/api/settings/modules/torch")
    assert view["waitsForConfirmation"] == ["/level"]


async def test_second_of_two_changes_that_wait_is_not_applied_over_the_first(server, of_page, person):
    first = (await put(of_page, COLOUR, {"path": "/run_args", "value": True}))[1]
    second = (await put(of_page, {"path": "/colour", "value": "blue"}))[1]
    assert await confirm(person, first) == (200, {"ok": True})
    status, answer = await confirm(person, second)
    assert (status, answer["error"]["type"]) == (409, "config_changed")
    assert own(server) == {"colour": "red", "run_args": True}


async def test_change_is_not_written_when_its_file_changed_while_it_waited(server, of_page, person):
    answer = (await put(of_page, {"path": "/bulb", "value": {"maker": "you"}}))[1]
    (server.folder / "modules" / "lamp.json").write_text('{"level": 2}')
    status, refused = await confirm(person, answer)
    assert (status, refused["error"]["type"], own(server)) == (409, "config_changed", {"level": 2})


async def test_change_is_not_applied_to_a_module_that_means_something_else_by_now(server, of_page, person):
    answer = (await put(of_page, COLOUR))[1]
    (server.folder / "modules" / "lamp.py").write_text(lamp(more='shape: str = "round"'))
    await server.post("/api/modules/lamp/reload", json={})
    status, refused = await confirm(person, answer)
    assert (status, refused["error"]["type"], own(server)) == (409, "config_changed", None)
    assert "are others than when this was asked for" in refused["error"]["message"]


async def test_save_and_reload_is_one_change_with_one_word(server, of_page, person):
    status, answer = await put(of_page, LEVEL, COLOUR, reload=True)
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert (await (await server.post("/api/tools/lamp_level/call", json={})).json())["data"] == 1
    (change,) = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    assert change["kind"] == "settings_reload"
    assert (await of_page.ask("GET", "/api/settings/modules/lamp"))[1]["waitsForConfirmation"] == ["/level", "/colour"]
    assert await confirm(person, answer) == (200, {"ok": True})
    assert (await (await server.post("/api/tools/lamp_level/call", json={})).json())["data"] == 3
    view = (await of_page.ask("GET", "/api/settings/modules/lamp"))[1]
    assert (view["waitsForReload"], view["waitsForConfirmation"]) == (False, [])


async def test_harmless_change_counts_at_once_with_a_reload(server, of_page):
    status, view = await put(of_page, LEVEL, reload=True)
    assert (status, view["waitsForReload"]) == (200, False)
    assert (await (await server.post("/api/tools/lamp_level/call", json={})).json())["data"] == 3


async def test_reload_of_code_that_changed_waits_with_the_harmless_change(server, of_page):
    (server.folder / "modules" / "lamp.py").write_text(lamp(level="float"))
    status, answer = await put(of_page, LEVEL, reload=True)
    assert (status, answer["error"]["type"], own(server)) == (403, "confirmation_required", None)
    assert (await put(of_page, LEVEL))[0] == 200


async def test_code_that_changes_while_a_reload_waits_is_not_loaded_by_it(server, of_page, person):
    answer = (await put(of_page, COLOUR, reload=True))[1]
    (server.folder / "modules" / "lamp.py").write_text(lamp() + "\nraise RuntimeError('not shown')\n")
    status, refused = await confirm(person, answer)
    assert (status, refused["error"]["type"], own(server)) == (409, "module_changed", None)
    assert server.running.host.modules.get_record("lamp").state == "ready"


async def test_settings_of_the_server_are_not_reloaded(of_page):
    digest = (await of_page.ask("GET", "/api/settings"))[1]["digest"]
    body = {"expected": digest, "changes": [{"path": "/locale", "value": "zh"}], "reload": True}
    status, answer = await of_page.ask("PUT", "/api/settings", body)
    assert (status, answer["error"]["type"]) == (400, "invalid_body")


class Odd(Module):
    """A module whose own check of its settings cannot be relied on."""

    class Settings(Module.Settings):
        level: Annotated[int, Field(json_schema_extra=HARMLESS)] = 1
        derived: str = ""

        def model_post_init(self, context: Any, /) -> None:
            if self.level == 13:
                raise RuntimeError("no")
            object.__setattr__(self, "derived", f"run level {self.level}" if self.level > 100 else "")

    @tool(read_only=True)
    async def odd_level(self) -> int:
        """The level."""
        return 1


@pytest.mark.parametrize(("level", "status"), [(7, 200), (101, 403), (13, 400)])
async def test_what_a_module_derives_from_a_harmless_setting_counts_too(agentcore_client, level, status):
    server = await agentcore_client([Odd])
    of_page = await page(server)
    assert (await put(of_page, {"path": "/level", "value": level}, module="odd"))[0] == status
