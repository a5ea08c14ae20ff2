"""`/api/settings`: what is set and from where, which file a change goes to, and what nobody may change from here."""

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import ConfigDict

from agentcore.api import BaseModel, Field, Module, SecretStr, tool
from agentcore.api.tool_context import Principal
from agentcore.config.config_errors import ConfigChangedError
from agentcore.config.config_file import FILE_BYTES
from agentcore.core.discovery.families import load_config
from agentcore.core.settings.display import diff_of
from agentcore.core.settings.settings_change import SettingChange, plan_changes
from agentcore.core.settings.settings_document import SettingsSubject
from agentcore.errors import ToolError
from agentcore.server.http.refusal import Refusal

APP = """{
    "modules": [],
    "server": {"port": 0},
    "limits": {
        "stop_grace": 1.5
    },
    "config": {
        "weather": {"count": 2, "api_key": "hunter2", "headers": {"Authorization": "Bearer x", "Accept": "*/*"}},
        "other": {"pat": "ghp_other"}
    }
}
"""


class Proxy(BaseModel):
    model_config = ConfigDict(extra="forbid")
    host: str = "localhost"
    password: SecretStr | None = None


class Weather(Module):
    """Weather."""

    name = "weather"

    class Settings(Module.Settings):
        api_key: SecretStr | None = None
        count: Annotated[int, Field(ge=1, json_schema_extra={"x-harmless": True})] = 3
        unit: str = "C"
        proxy: Proxy = Proxy()
        headers: dict[str, str] = Field(default_factory=dict)
        sandbox: Annotated[str, Field(json_schema_extra={"x-policy": True})] = "require"

    @tool(read_only=True)
    async def weather_count(self) -> int:
        """Tell the count."""
        count: int = self.settings.count
        return count


SERVER = {"modules": [Weather]}


@pytest.fixture(autouse=True)
def file(request):
    """The text of app.json, which somebody has written since the server started."""
    if "bare_server" in request.fixturenames:
        server = request.getfixturevalue("bare_server")
        server.folder = server.host.config.file.parent
        server.host.config.file.write_text(APP)


async def put(bare_server, path: str, changes: list[dict[str, Any]], expected: str | None = None, **query: str):
    if expected is None:
        expected = (await bare_server.get(path))[1]["digest"]
    body = {"expected": expected, "changes": changes}
    async with bare_server.client.put(bare_server.url + path, json=body, params=query) as response:
        return response.status, await response.json()


async def save(bare_server, path: str, changes: list[dict[str, Any]], **query: str):
    """Change settings, and confirm what waits; the answer is what is set then."""
    status, answer = await put(bare_server, path, changes, **query)
    if status == 403:
        (waiting,) = bare_server.host.policy_changes.waiting
        await bare_server.host.policy_changes.decide_change(waiting.change_id, approved=True, by="test")
        return await bare_server.get(path)
    return status, answer


WEATHER = "/api/settings/modules/weather"


@pytest.mark.spec("K5")
async def test_each_value_says_which_line_it_comes_from(bare_server):
    status, view = await bare_server.get("/api/settings")
    assert status == 200
    assert view["values"]["limits"] == {"stop_grace": 1.5}
    origin = view["origins"]["/limits/stop_grace"]
    assert (origin["kind"], origin["line"], origin["isReadOnly"]) == ("app", 5, False)
    assert origin["file"] == str(bare_server.folder / "app.json")
    assert "/limits/init_timeout" not in view["origins"]
    assert view["schema"]["$defs"]["LimitsConfig"]["properties"]["init_timeout"]["default"] == 30
    assert view["problems"] == []


async def test_modules_and_their_settings_are_not_among_those_of_the_server(bare_server):
    _, view = await bare_server.get("/api/settings")
    assert not {"modules", "config", "$schema"} & {*view["values"], *view["schema"]["properties"]}
    assert "hunter2" not in json.dumps(view)
    assert not [path for path in view["origins"] if path.startswith(("/config", "/modules", "/$schema"))]


@pytest.mark.parametrize(
    "change",
    [
        {"path": "/config/weather/count", "value": 1},
        {"path": "/config", "remove": True},
        {"path": "/modules", "remove": True},
    ],
)
async def test_what_has_routes_of_its_own_is_not_changed_as_a_setting(bare_server, change):
    status, answer = await put(bare_server, "/api/settings", [change])
    assert (status, answer["error"]["type"]) == (400, "unknown_setting")
    assert "routes of their own" in answer["error"]["message"]
    assert (bare_server.folder / "app.json").read_text() == APP


@pytest.mark.spec("K5")
async def test_change_is_saved_in_place_and_every_other_byte_is_kept(bare_server):
    status, view = await save(bare_server, "/api/settings", [{"path": "/limits/stop_grace", "value": 2}])
    assert status == 200
    assert (bare_server.folder / "app.json").read_text() == APP.replace("1.5", "2")
    assert view["values"]["limits"]["stop_grace"] == 2
    assert "/limits/stop_grace" in view["waitsForRestart"]


async def test_removed_setting_falls_back_to_its_default(bare_server):
    status, view = await save(bare_server, "/api/settings", [{"path": "/limits/stop_grace", "remove": True}])
    assert status == 200
    assert "/limits/stop_grace" not in view["origins"]
    assert json.loads((bare_server.folder / "app.json").read_text())["limits"] == {}


async def test_preview_shows_a_diff_and_writes_nothing(bare_server):
    changes = [{"path": "/count", "value": 7}, {"path": "/unit", "value": "F"}]
    status, answer = await put(bare_server, WEATHER, changes, preview="diff")
    assert status == 200
    (diff,) = answer["diff"]
    assert diff["file"] == str(bare_server.folder / "modules" / "weather.json")
    changed = [line for line in diff["text"].splitlines() if line[:1] in "+-"][2:]
    assert changed == ["+{", '+  "count": 7,', '+  "unit": "F"', "+}"]
    assert not (bare_server.folder / "modules" / "weather.json").exists()
    assert (bare_server.folder / "app.json").read_text() == APP


@pytest.mark.spec("S1")
async def test_no_secret_is_in_an_answer_or_a_diff(bare_server):
    changes = [{"path": "/count", "value": 7}]
    texts = [
        json.dumps((await bare_server.get(WEATHER))[1]),
        json.dumps((await bare_server.get("/api/settings"))[1]),
        json.dumps((await put(bare_server, WEATHER, changes, preview="diff"))[1]),
        json.dumps((await put(bare_server, "/api/settings", [{"path": "/locale", "value": "zh"}], preview="diff"))[1]),
        json.dumps((await save(bare_server, WEATHER, changes))[1]),
    ]
    for secret in ("hunter2", "Bearer x", "ghp_other"):
        assert not [text for text in texts if secret in text]
    _, view = await bare_server.get(WEATHER)
    assert view["withheld"] == ["/api_key", "/headers/Authorization"]
    assert view["values"] == {"count": 7, "headers": {"Accept": "*/*"}}


@pytest.mark.spec("K3")
@pytest.mark.parametrize(
    ("path", "change"),
    [
        (WEATHER, {"path": "/api_key", "value": "new"}),
        (WEATHER, {"path": "/unit", "remove": True}),
        (WEATHER, {"path": "/proxy/password", "value": "new"}),
        (WEATHER, {"path": "/proxy/password", "remove": True}),
        (WEATHER, {"path": "/proxy", "value": {}}),
        (WEATHER, {"path": "/headers/X-Token", "value": "mine"}),
        (WEATHER, {"path": "/headers", "value": {"Accept": "*/*", "Authorization": "Bearer y"}}),
        (WEATHER, {"path": "/sandbox", "value": "off"}),
        (WEATHER, {"path": "/unit", "value": "F"}),
        ("/api/settings", {"path": "/limits/call_timeout_max", "value": 5}),
        ("/api/settings", {"path": "/limits", "remove": True}),
        ("/api/settings", {"path": "/server/port", "value": 1}),
        ("/api/settings", {"path": "/server/approval_port", "value": 1}),
        ("/api/settings", {"path": "/approvals/mode", "value": "allow"}),
        ("/api/settings", {"path": "/approvals/api_token", "value": True}),
        ("/api/settings", {"path": "/agents/default", "value": {}}),
        ("/api/settings", {"path": "/models/fast", "value": {}}),
        ("/api/settings", {"path": "/workspace/roots", "value": ["/"]}),
        ("/api/settings", {"path": "/workspace", "remove": True}),
        ("/api/settings", {"path": "/workspace/protected", "value": []}),
        ("/api/settings", {"path": "/server/hosts", "value": ["evil.example"]}),
        ("/api/settings", {"path": "/server/host", "value": "0.0.0.0"}),
        ("/api/settings", {"path": "/server", "value": {"host": "0.0.0.0"}}),
        ("/api/settings", {"path": "/modules_dir", "value": "workspace"}),
    ],
)
async def test_all_that_is_not_harmless_waits_for_a_person(bare_server, path, change):
    (bare_server.folder / "modules" / "weather.json").write_text('{"unit": "K", "proxy": {"password": "hunter3"}}')
    status, answer = await put(bare_server, path, [change], preview="diff")
    assert (status, answer["needsConfirmation"]) == (200, True)
    status, answer = await put(bare_server, path, [change])
    (waiting,) = bare_server.host.policy_changes.waiting
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert answer["error"]["context"]["changeId"] == waiting.change_id
    assert waiting.proposal.paths == (change["path"],)
    assert (bare_server.folder / "app.json").read_text() == APP
    assert (await bare_server.get(path))[1]["waitsForConfirmation"] == [change["path"]]


async def test_view_names_what_is_policy(bare_server):
    _, view = await bare_server.get("/api/settings")
    assert {"/approvals", "/approvals/mode", "/workspace/roots", "/server/hosts", "/agents"} <= {*view["policy"]}
    assert {"/server/port", "/limits", "/limits/stop_grace"} <= {*view["policy"]}
    assert "/locale" not in view["policy"]
    assert (view["mayChangePolicy"], view["policyIsConfirmed"]) == (True, True)


@pytest.mark.spec("M3")
async def test_value_that_is_not_valid_is_refused_with_its_place(bare_server):
    status, answer = await put(bare_server, WEATHER, [{"path": "/count", "value": 0}])
    assert (status, answer["error"]["type"]) == (400, "invalid_settings")
    (error,) = answer["error"]["context"]["errors"]
    assert error["path"] == "/count"
    assert "greater than or equal to 1" in error["message"]
    assert (bare_server.folder / "app.json").read_text() == APP


async def test_what_was_wrong_already_does_not_keep_the_rest_from_being_mended(bare_server):
    (bare_server.folder / "modules" / "weather.json").write_text('{"cuont": 2, "api_key": []}')
    _, view = await bare_server.get(WEATHER)
    assert sorted(problem["path"] for problem in view["problems"]) == ["/api_key", "/cuont"]
    status, view = await save(
        bare_server, WEATHER, [{"path": "/cuont", "remove": True}, {"path": "/count", "value": 2}]
    )
    assert status == 200
    assert [problem["path"] for problem in view["problems"]] == ["/api_key"]
    status, answer = await put(bare_server, WEATHER, [{"path": "/count", "value": "many"}])
    assert answer["error"]["type"] == "invalid_settings"


async def test_setting_that_does_not_exist_is_refused(bare_server):
    status, answer = await put(bare_server, WEATHER, [{"path": "/cuont", "value": 1}])
    assert (status, answer["error"]["type"]) == (400, "unknown_setting")


@pytest.mark.spec("K5")
async def test_settings_of_a_module_go_to_its_own_file_which_wins(bare_server):
    """app.json stays as it is, and shows again what it says once the module's own file says nothing."""
    own = bare_server.folder / "modules" / "weather.json"
    own.write_text('{"unit": "F"}')
    status, view = await save(bare_server, WEATHER, [{"path": "/unit", "value": "K"}, {"path": "/count", "value": 9}])
    assert status == 200
    assert json.loads(own.read_text()) == {"unit": "K", "count": 9}
    assert (bare_server.folder / "app.json").read_text() == APP
    assert (view["origins"]["/unit"]["kind"], view["origins"]["/count"]["kind"]) == ("module", "module")
    assert view["overApp"] == ["/count"]
    status, view = await save(bare_server, WEATHER, [{"path": "/count", "remove": True}])
    assert (view["values"]["count"], view["origins"]["/count"]["kind"], view["overApp"]) == (2, "app", [])


@pytest.mark.spec("K5")
@pytest.mark.parametrize("preview", [{}, {"preview": "diff"}])
async def test_setting_that_only_app_json_has_is_not_taken_out_of_it(bare_server, preview):
    """The answer says where it stands; a value of the module's own takes its place."""
    status, answer = await put(bare_server, WEATHER, [{"path": "/count", "remove": True}], **preview)
    assert (status, answer["error"]["type"]) == (400, "setting_overridden")
    (error,) = answer["error"]["context"]["errors"]
    assert error["path"] == "/count"
    assert f"count is set in {bare_server.folder / 'app.json'}:8, which" in error["message"]
    await save(bare_server, WEATHER, [{"path": "/count", "value": 5}])
    assert json.loads((bare_server.folder / "modules" / "weather.json").read_text()) == {"count": 5}
    assert (bare_server.folder / "app.json").read_text() == APP


@pytest.mark.spec("K5")
async def test_folder_of_the_modules_own_file_is_made(bare_server):
    (bare_server.folder / "modules").rename(bare_server.folder / "elsewhere")
    status, _ = await save(bare_server, WEATHER, [{"path": "/proxy/host", "value": "p"}])
    assert status == 200
    own = bare_server.folder / "modules" / "weather.json"
    assert json.loads(own.read_text()) == {"proxy": {"host": "p"}}
    assert own.stat().st_mode & 0o777 == 0o600


@pytest.mark.spec("K5")
async def test_map_without_what_app_json_says_of_it_is_refused(bare_server):
    """Maps of both files are merged key by key: a key of app.json is removed there, and any other is set here."""
    app = '{"config": {"weather": {"headers": {"Accept": "a", "Via": "v"}}}}'
    (bare_server.folder / "app.json").write_text(app)
    status, answer = await put(bare_server, WEATHER, [{"path": "/headers", "value": {"Accept": "c"}}])
    assert (status, answer["error"]["type"]) == (400, "setting_overridden")
    assert f"{bare_server.folder / 'app.json'}:1" in answer["error"]["message"]
    headers = {"Accept": "c", "Via": "v", "From": "me"}
    status, view = await save(bare_server, WEATHER, [{"path": "/headers", "value": headers}])
    assert (status, view["values"]["headers"]) == (200, headers)
    assert {"/headers", "/headers/Accept", "/headers/Via"} == {*view["overApp"]}
    assert (bare_server.folder / "app.json").read_text() == app


@pytest.mark.parametrize(
    "changes",
    [
        [{"path": "/proxy", "value": {"host": "c"}}, {"path": "/proxy/host", "value": "v"}],
        [{"path": "/unit", "value": "F"}, {"path": "/unit", "remove": True}],
    ],
)
async def test_changes_that_contradict_one_another_are_refused(bare_server, changes):
    status, answer = await put(bare_server, WEATHER, changes)
    assert (status, answer["error"]["type"]) == (400, "setting_overridden")
    assert "is changed twice" in answer["error"]["message"]


@pytest.mark.spec("K5")
async def test_value_from_the_environment_is_read_only(tmp_path):
    path = tmp_path / "app.json"
    path.write_text(APP)
    environ = {"AGENTCORE_LIMITS__STOP_GRACE": "9", "AGENTCORE_SERVER": '{"approval_port": 1}'}
    document = SettingsSubject.of_app(load_config(path, environ)).read_document()
    assert document.value_at(("limits", "stop_grace")) == 9
    with pytest.raises(ToolError, match="environment variable AGENTCORE_LIMITS__STOP_GRACE") as caught:
        plan_changes(document, [SettingChange(("limits", "stop_grace"), 3)])
    assert caught.value.type == "setting_read_only"
    # an object of the environment is laid over those of files, so other keys of it can be set there
    plan = plan_changes(document, [SettingChange(("server", "port"), 4)])
    assert plan.write().value_at(("server",)) == {"approval_port": 1, "port": 4}


async def test_change_is_refused_when_the_files_are_no_longer_what_was_looked_at(bare_server):
    _, view = await bare_server.get("/api/settings")
    (bare_server.folder / "app.json").write_text("{}")
    status, answer = await put(bare_server, "/api/settings", [{"path": "/locale", "value": "zh"}], view["digest"])
    assert (status, answer["error"]["type"]) == (409, "config_changed")
    assert (bare_server.folder / "app.json").read_text() == "{}"


async def test_file_that_changes_between_plan_and_writing_is_not_overwritten(tmp_path):
    path = tmp_path / "app.json"
    path.write_text("{}")
    document = SettingsSubject.of_app(load_config(path, {})).read_document()
    plan = plan_changes(document, [SettingChange(("locale",), "zh")])
    path.write_text('{"locale": "en"}')
    with pytest.raises(ConfigChangedError):
        plan.write()
    assert path.read_text() == '{"locale": "en"}'


async def test_file_that_is_not_json_is_an_error_with_line_and_column(bare_server):
    (bare_server.folder / "app.json").write_text('{\n "server": {,}\n}')
    for path in ("/api/settings", WEATHER):
        status, answer = await bare_server.get(path)
        assert (status, answer["error"]["type"]) == (409, "config_invalid")
        (problem,) = answer["error"]["context"]["problems"]
        assert (problem["line"], problem["file"]) == (2, str(bare_server.folder / "app.json"))


@pytest.mark.more
async def test_file_that_cannot_be_written_is_an_error(bare_server):
    own = bare_server.folder / "modules" / "weather.json"
    nearly_too_large = json.dumps({"unit": "F" * (FILE_BYTES - 100)})
    own.write_text(nearly_too_large)
    (bare_server.folder / "app.json").write_text("{}")
    await put(bare_server, WEATHER, [{"path": "/proxy/host", "value": "h" * 100}])
    (waiting,) = bare_server.host.policy_changes.waiting
    with pytest.raises(Refusal) as caught:
        await bare_server.host.policy_changes.decide_change(waiting.change_id, approved=True, by="test")
    assert caught.value.type == "config_not_written"
    assert own.read_text() == nearly_too_large


async def test_nesting_that_no_file_may_have_is_refused(bare_server):
    value: Any = "deep"
    for _ in range(95):
        value = [value]
    status, answer = await put(bare_server, WEATHER, [{"path": "/unit", "value": value}])
    assert (status, answer["error"]["type"]) == (400, "invalid_settings")


@pytest.mark.parametrize(
    "change",
    [{"path": "/count"}, {"path": "/count", "value": 1, "remove": True}, {"path": "count", "value": 1}, {"path": ""}],
)
async def test_change_that_is_none_is_refused(bare_server, change):
    status, answer = await put(bare_server, WEATHER, [change])
    assert (status, answer["error"]["type"]) == (400, "invalid_body")


@pytest.mark.spec("M3", "M4")
async def test_saved_settings_of_a_module_count_once_it_is_reloaded(bare_server):
    _, view = await save(bare_server, WEATHER, [{"path": "/count", "value": 5}])
    assert view["waitsForReload"] is True
    await bare_server.post("/api/modules/weather/reload")
    assert (await bare_server.call("weather_count"))["data"] == 5
    assert (await bare_server.get(WEATHER))[1]["waitsForReload"] is False


async def test_module_whose_code_was_not_loaded_shows_only_where_its_settings_stand(make_server, tmp_path):
    app = {"modules": ["broken"], "config": {"broken": {"odd": "hunter2"}}}
    bare_server = await make_server(files={"broken": "raise RuntimeError('no')"}, app=app)
    status, view = await bare_server.get("/api/settings/modules/broken")
    assert (status, view["schema"], view["values"], view["withheld"]) == (200, None, {}, ["/odd"])
    assert view["origins"]["/odd"]["line"]
    status, answer = await put(bare_server, "/api/settings/modules/broken", [{"path": "/odd", "value": 1}])
    assert (status, answer["error"]["type"]) == (400, "settings_unknown")


async def test_module_that_fails_by_its_settings_says_the_line_and_shows_no_traceback(make_server, tmp_path):
    source = "from agentcore.api import Module\n\n\nclass Odd(Module):\n    pass\n"
    app = {"modules": ["odd"], "config": {"odd": {"cuont": 1}}}
    bare_server = await make_server(files={"odd": source}, app=app)
    _, module = await bare_server.get("/api/modules/odd")
    assert (module["state"], module["traceback"]) == ("failed", "")
    assert f"{tmp_path / 'app' / 'app.json'}:" in module["reason"]
    assert "unknown key" in module["reason"]


async def test_module_that_is_not_listed_has_no_settings(bare_server):
    status, answer = await bare_server.get("/api/settings/modules/nobody")
    assert (status, answer["error"]["type"]) == (404, "module_not_found")


@pytest.mark.spec("S7")
async def test_change_is_in_the_record_and_told_to_pages_without_its_value(bare_server):
    told: list[dict[str, Any]] = []
    bare_server.host.events.subscribe("settings.changed", lambda event: told.append(event.to_json()))
    await put(bare_server, WEATHER, [{"path": "/count", "value": 12345}])
    _, page = await bare_server.get("/api/calls", params={"kind": "notice"})
    assert (told[0]["module"], told[0]["paths"]) == ("weather", ["/count"])
    row = page["calls"][0]
    assert (row["outcome"], row["module"], row["principal_kind"]) == ("settings_changed", "weather", "token")
    assert json.loads(row["arguments"]) == {"module": "weather", "paths": ["/count"]}


async def test_diff_hides_a_secret_that_is_set(tmp_path):
    path = tmp_path / "app.json"
    path.write_text(APP)
    config = load_config(path, {})
    record = _record_of(Weather())
    document = SettingsSubject.of_module(config, record).read_document()
    plan = plan_changes(document, [SettingChange(("api_key",), "sesame")])
    ((_, text),) = diff_of(plan.before, plan.after)
    assert "sesame" not in text
    assert '+  "api_key": "••• (new)"' in text
    assert plan.write().value_at(("api_key",)) == "sesame"


def _record_of(module: Module) -> Any:
    from agentcore.core.declarations.manifest import Manifest
    from agentcore.core.modules.module_record import ModuleRecord

    record = ModuleRecord("weather")
    record.adopt_plugin(module)
    record.declare(Manifest(config_key="weather", settings=module.Settings))
    return record


async def test_models_and_programs_without_the_right_are_refused(bare_server):
    from agentcore.core.policy.authority import authorise

    for kind in ("chat", "mcp", "host", "module"):
        with pytest.raises(ToolError) as caught:
            authorise(Principal(kind), "change_settings")
        assert caught.value.type == "forbidden"
    assert Path(bare_server.folder / "app.json").read_text() == APP
