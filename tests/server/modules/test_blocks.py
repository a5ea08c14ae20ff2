"""Blocks of families as people see and change them: secrets stay behind, and a person confirms each change."""

import json

import pytest

from tests.server.approving import approver, page
from tests.server.modules import bells

pytestmark = pytest.mark.spec("K10", "K5", "S2")

SECRETS = {"sound": "ding", "env": {"PLACE": "s3cret-place"}, "token": "s3cret-token"}


@pytest.fixture
async def server(site, agentcore_client):
    blocks = {"small": SECRETS, "big": {"sound": "dong", "env": {"PLACE": "s3cret-too"}}}
    return await agentcore_client(config={"modules": ["bell_small"], "bells": blocks})


def app_json(server):
    return json.loads(server.running.host.config.file.read_text())


async def change(asker, *changes):
    digest = (await asker.ask("GET", "/api/settings"))[1]["digest"]
    return await asker.ask("PUT", "/api/settings", {"expected": digest, "changes": changes})


async def waiting(person):
    (change,) = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    return change


async def confirm(person):
    path = f"/api/policy-changes/{(await waiting(person))['changeId']}/decision"
    assert (await person.ask("POST", path, {"approved": True}))[0] == 200


async def rung(server):
    return (await (await server.post("/api/tools/bell_small_ring/call", json={})).json())["content"][0]["text"]


async def test_block_is_shown_where_its_module_is_and_in_the_settings_without_secrets(server):
    of_page = await page(server)
    paths = ("/api/modules", "/api/modules/bell_small", "/api/settings")
    listing, module, settings = [(await of_page.ask("GET", path))[1] for path in paths]
    assert "s3cret" not in json.dumps([listing, module, settings])
    block = module["block"]
    assert (block["family"], block["key"], block["isChanged"]) == ("bells", "small", False)
    assert json.loads(block["text"]) == {"sound": "ding", "env": {"PLACE": "•••"}, "token": "•••"}
    assert block["file"] == str(server.running.host.config.file)
    off = next(each for each in listing["modules"] if each["name"] == "bell_big")
    assert json.loads(off["block"]["text"])["env"] == {"PLACE": "•••"}
    assert settings["values"]["bells"]["small"] == {"sound": "ding", "env": {}}
    assert {"/bells/small/token", "/bells/small/env/PLACE", "/bells/big/env/PLACE"} <= set(settings["withheld"])
    assert settings["origins"]["/bells/small/sound"]["kind"] == "app"


async def test_block_of_a_family_that_is_not_loaded_shows_all_but_what_is_handed_on(site, agentcore_client):
    block = {
        "command": "ring",
        "args": ["-x", "--port", "80", "--api-key", "s3cret", "--token=s3cret", "--secret", "${secret:own}"],
        "env": {"A": "s3cret"},
        "headers": {"B": "s3cret"},
        "api_token": "s3cret",
    }
    arguments = ["-x", "--port", "80", "--api-key", "•••", "•••", "--secret", "${secret:own}"]
    server = await agentcore_client(config={"bells": {"small": block}})
    module = await (await server.get("/api/modules/bell_small")).json()
    hidden = {"args": arguments, "env": {"A": "•••"}, "headers": {"B": "•••"}, "api_token": "•••"}
    assert json.loads(module["block"]["text"]) == block | hidden
    settings = await (await server.get("/api/settings")).json()
    assert settings["values"]["bells"]["small"] == {"command": "ring", "args": arguments, "env": {}, "headers": {}}


async def test_change_of_a_block_waits_with_its_diff_and_counts_at_once(server):
    person, of_page = await approver(server), await page(server)
    status, answer = await change(of_page, {"path": "/bells/small/sound", "value": "dang"})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert app_json(server)["bells"]["small"]["sound"] == "ding"
    shown = await waiting(person)
    assert shown["paths"] == ["/bells/small/sound"]
    assert "dang" in shown["diff"][0]["text"]
    assert "s3cret" not in json.dumps(shown)
    assert await rung(server) == "ding"
    await confirm(person)
    assert app_json(server)["bells"]["small"]["sound"] == "dang"
    assert await rung(server) == "dang"


async def test_block_waits_for_no_restart_and_hides_nothing_else_that_does(server):
    document = app_json(server) | {"limits": {"calls_in_flight": 7}}
    document["bells"]["big"]["sound"] = "dung"
    server.running.host.config.file.write_text(json.dumps(document))
    settings = await (await server.get("/api/settings")).json()
    assert settings["waitsForRestart"] == ["/limits/calls_in_flight"]


async def test_no_field_of_a_block_is_harmless_for_the_token_either(server):
    settings = await (await server.get("/api/settings")).json()
    body = {"expected": settings["digest"], "changes": [{"path": "/bells/small/times", "value": 2}]}
    answer = await server.put("/api/settings", json=body)
    assert (answer.status, (await answer.json())["error"]["type"]) == (403, "confirmation_required")


async def test_wrong_change_of_a_block_is_refused_at_its_field(server):
    status, answer = await change(await page(server), {"path": "/bells/small/times", "value": 9})
    assert (status, answer["error"]["type"]) == (400, "invalid_settings")
    assert answer["error"]["context"]["errors"][0]["path"] == "/bells/small/times"


async def test_block_that_is_not_listed_is_changed_too(server):
    person = await approver(server)
    await change(await page(server), {"path": "/bells/third", "value": {"sound": "dung"}})
    await confirm(person)
    assert app_json(server)["bells"]["third"] == {"sound": "dung"}
    assert (await (await server.get("/api/modules/bell_third")).json())["state"] == "stopped"


async def test_code_that_changed_is_not_run_by_a_change_of_a_block(site, server):
    person = await approver(server)
    bells.install(site, bells.SOURCE.replace('MARK = ""', 'MARK = "!"'))
    await change(await page(server), {"path": "/bells/small/sound", "value": "dang"})
    await confirm(person)
    assert await rung(server) == "ding"
    assert (await (await server.get("/api/modules/bell_small")).json())["block"]["isChanged"]


async def test_page_that_reloads_a_changed_block_has_it_confirmed_with_what_changed(server):
    file = server.running.host.config.file
    block = SECRETS | {"sound": "dang", "token": "s3cret-other"}
    file.write_text(json.dumps(app_json(server) | {"bells": {"small": block}}))
    person, of_page = await approver(server), await page(server)
    status, answer = await of_page.ask("POST", "/api/modules/bell_small/reload", {})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    (diff,) = (await waiting(person))["diff"]
    assert diff["file"] == "bells small"
    changed = [line.rstrip(",") for line in diff["text"].splitlines()[2:] if line[0] in "+-"]
    assert changed == ['-  "sound": "ding"', '+  "sound": "dang"', '-  "token": "•••"', '+  "token": "••• (new)"']
    await confirm(person)
    assert await rung(server) == "dang"


async def test_page_that_enables_a_block_shows_what_will_run(server):
    person, of_page = await approver(server), await page(server)
    assert (await of_page.ask("POST", "/api/modules/bell_big/enable", {}))[0] == 403
    diffs = {diff["file"]: diff["text"] for diff in (await waiting(person))["diff"]}
    assert '+  "sound": "dong",' in diffs["bells big"]
    assert "s3cret" not in json.dumps(diffs)
    assert "for block 'big' of bells" in diffs["module bell_big"]
    await confirm(person)
    assert (await (await server.get("/api/modules/bell_big")).json())["listed"]
