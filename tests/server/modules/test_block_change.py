"""Blocks of families over HTTP: a pasted text is read, and what is added, changed and removed waits for a person."""

import json
from typing import Any

import pytest

from agentcore.store.credentials.module_secrets import ModuleSecrets
from agentcore.store.credentials.secret_table import read_secrets
from tests.core.installing import Site
from tests.server.approving import Browser, approver, page
from tests.server.modules import bells

pytestmark = [pytest.mark.spec("P3"), pytest.mark.spec("K10")]

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ"


@pytest.fixture
async def server(site: Site, agentcore_client):
    return await agentcore_client(config={"bells": {}})


@pytest.fixture
async def asker(server) -> Browser:
    return await page(server)


@pytest.fixture
async def person(server) -> Browser:
    return await approver(server)


def app_json(server) -> Any:
    return json.loads(server.running.host.config.file.read_text())


async def wanted(asker, blocks, **more):
    status, answer = await asker.ask("PUT", "/api/families/bells", {"blocks": blocks, **more})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required"), answer
    return answer


async def decided(person, answer, *, approved=True):
    change_id = answer["error"]["context"]["changeId"]
    return await person.ask("POST", f"/api/policy-changes/{change_id}/decision", {"approved": approved})


async def change(asker, person, blocks, **more):
    assert await decided(person, await wanted(asker, blocks, **more)) == (200, {"ok": True})


async def state(asker, name):
    return (await asker.ask("GET", f"/api/modules/{name}"))[1]


async def test_added_blocks_wait_with_all_that_changes_then_start(server, asker, person):
    blocks = {"Big Ben": {"sound": "dong"}, "small": {"sound": "ding", "env": {"KEY": "hidden-value"}}}
    answer = await wanted(asker, blocks)
    assert app_json(server)["bells"] == {}
    waiting = (await person.ask("GET", "/api/approvals"))[1]
    (shown,) = waiting["changes"]
    assert (shown["kind"], shown["subject"]) == ("blocks_add", "bell_big_ben, bell_small")
    (diff,) = shown["diff"]
    assert '"sound": "dong"' in diff["text"]
    assert '"bell_small"' in diff["text"]
    assert "hidden-value" not in json.dumps([answer, waiting])
    assert await decided(person, answer) == (200, {"ok": True})
    assert app_json(server)["bells"] == blocks
    assert app_json(server)["modules"] == ["bell_big_ben", "bell_small"]
    assert [(await state(asker, name))["state"] for name in app_json(server)["modules"]] == ["ready", "ready"]


async def test_added_blocks_start_together(server, asker, person):
    await change(asker, person, {"one": {"sound": "in chorus"}, "two": {"sound": "in chorus"}})
    assert [(await state(asker, name))["state"] for name in ("bell_one", "bell_two")] == ["ready", "ready"]


async def test_changes_that_wait_at_one_time_are_all_applied(server, asker, person):
    first = await wanted(asker, {"small": {"sound": "ding"}})
    second = await wanted(asker, {"big": {"sound": "dong"}})
    third = await wanted(asker, {"tiny": {"sound": "ping"}})
    for answer in (third, first, second):
        assert await decided(person, answer) == (200, {"ok": True})
    assert app_json(server)["modules"] == ["bell_tiny", "bell_small", "bell_big"]
    assert list(app_json(server)["bells"]) == ["tiny", "small", "big"]


async def test_change_of_a_block_that_has_become_another_meanwhile_is_not_applied(server, asker, person):
    await change(asker, person, {"small": {"sound": "ding"}})
    first = await wanted(asker, {"small": {"sound": "dong"}})
    document = app_json(server)
    document["bells"]["small"] = {"sound": "ping"}
    server.running.host.config.file.write_text(json.dumps(document))
    status, refused = await decided(person, first)
    assert (status, refused["error"]["type"]) == (409, "config_changed")
    assert app_json(server)["bells"]["small"] == {"sound": "ping"}


async def test_refused_blocks_change_nothing(server, asker, person):
    before = server.running.host.config.file.read_text()
    await decided(person, await wanted(asker, {"small": {"sound": "ding"}}), approved=False)
    assert server.running.host.config.file.read_text() == before
    assert (await state(asker, "bell_small"))["error"]["type"] == "module_not_found"


@pytest.mark.more
async def test_secrets_of_blocks_are_kept_with_them_and_never_shown(server, asker, person):
    block = {"sound": "ding", "token": "${secret:small_token}"}
    answer = await wanted(asker, {"small": block}, secrets={"small_token": TOKEN})
    waiting = (await person.ask("GET", "/api/approvals"))[1]
    assert {"file": "secrets", "text": "+small_token: …\n"} in waiting["changes"][0]["diff"]
    assert TOKEN not in json.dumps([answer, waiting])
    assert read_secrets(server.running.host.state.path) == {}
    await decided(person, answer)
    assert read_secrets(server.running.host.state.path)["small_token"].value.get_secret_value() == TOKEN
    assert (await state(asker, "bell_small"))["state"] == "ready"
    assert TOKEN not in server.running.host.config.file.read_text()


async def test_the_name_of_a_secret_is_shown_and_what_may_hold_one_is_not(asker, person):
    both = "hidden-value${secret:small_token}"
    env = {"KEY": "${secret:small_token}", "OTHER": "${OTHER:-hidden-value}", "BOTH": both}
    await wanted(asker, {"small": {"sound": "ding", "env": env}}, secrets={"small_token": TOKEN})
    waiting = (await person.ask("GET", "/api/approvals"))[1]
    assert '"KEY": "${secret:small_token}"' in waiting["changes"][0]["diff"][0]["text"]
    assert "hidden-value" not in json.dumps(waiting)


async def test_changed_block_begins_anew_and_a_mask_keeps_what_stands_there(server, asker, person):
    await change(asker, person, {"small": {"sound": "ding", "token": "kept-token"}})
    await change(asker, person, {"small": {"sound": "dong", "token": "•••"}})
    assert app_json(server)["bells"]["small"] == {"sound": "dong", "token": "kept-token"}
    found = await state(asker, "bell_small")
    assert (found["title"], found["block"]["isChanged"]) == ("Bell dong", False)


async def test_removed_block_ends_its_module_and_leaves_the_list(server, asker, person):
    await change(asker, person, {"small": {"sound": "ding"}, "big": {"sound": "dong"}})
    await change(asker, person, {"small": None})
    assert (app_json(server)["modules"], list(app_json(server)["bells"])) == (["bell_big"], ["big"])
    names = [each["name"] for each in (await asker.ask("GET", "/api/modules"))[1]["modules"]]
    assert "bell_big" in names
    assert "bell_small" not in names
    assert (await state(asker, "bell_big"))["state"] == "ready"


async def test_what_a_removed_blocks_module_kept_goes_with_it(server, asker, person):
    await change(asker, person, {"small": {"sound": "ding"}, "big": {"sound": "dong"}})
    folder = server.running.host.state.path
    for name in ("bell_small", "bell_big"):
        await ModuleSecrets(folder, name).write({"token": "of a log-in"})
    await change(asker, person, {"small": None})
    assert [file.name for file in (folder / "module_secrets").iterdir()] == ["bell_big.json"]


async def test_preview_shows_the_diff_and_nothing_waits(server, asker, person):
    status, shown = await asker.ask("PUT", "/api/families/bells?preview=diff", {"blocks": {"a": {"sound": "ding"}}})
    assert (status, shown["added"], shown["removed"]) == (200, ["bell_a"], [])
    assert '"sound": "ding"' in shown["diff"][0]["text"]
    assert (await person.ask("GET", "/api/approvals"))[1]["changes"] == []


@pytest.mark.parametrize(
    ("family", "blocks", "kind"),
    [
        ("gongs", {"a": {}}, "family_not_found"),
        ("bells", {"!!": {"sound": "ding"}}, "invalid_block"),
        ("bells", {"a b": {"sound": "ding"}, "a-b": {"sound": "ding"}}, "invalid_block"),
        ("bells", {"a": {"sound": "ding", "token": "•••"}}, "invalid_block"),
        ("bells", {"a": None}, "block_not_found"),
        ("bells", {}, "invalid_body"),
    ],
)
async def test_blocks_that_cannot_be_are_refused_before_anybody_is_asked(asker, person, family, blocks, kind):
    answer = (await asker.ask("PUT", f"/api/families/{family}", {"blocks": blocks}))[1]
    assert answer["error"]["type"] == kind
    assert (await person.ask("GET", "/api/approvals"))[1]["changes"] == []


async def test_block_that_its_family_refuses_is_refused_once_its_code_is_known(asker, person):
    await change(asker, person, {"small": {"sound": "ding"}})
    answer = (await asker.ask("PUT", "/api/families/bells", {"blocks": {"a": {"sound": "ding", "times": 9}}}))[1]
    assert answer["error"]["type"] == "invalid_settings"
    assert "/bells/a/times" in answer["error"]["message"]


async def test_families_are_listed_by_their_key(asker):
    families = (await asker.ask("GET", "/api/families"))[1]["families"]
    (found,) = [each for each in families if each["key"] == "bells"]
    assert found == {"key": "bells", "prefix": "bell_", "distribution": "acme-bells", "version": "1.0"}


async def read(asker, text, **more):
    return await asker.ask("POST", "/api/families/read", {"text": text, **more})


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ('{"bells": {"Big Ben": {"sound": "dong"}}, "theme": 1}', {}),
        ('{\n // as editors keep it\n "bells": {"Big Ben": {"sound": "dong", /* , */ },},\n}', {}),
        ('{"Big Ben": {"sound": "dong"}}', {"family": "bells"}),
        ('{"sound": "dong"}', {"family": "bells", "key": "Big Ben"}),
    ],
)
async def test_pasted_text_is_read_in_each_of_its_forms(asker, text, more):
    status, found = await read(asker, text, **more)
    (block,) = found["blocks"]
    assert (status, found["family"], block["key"], block["module"]) == (200, "bells", "Big Ben", "bell_big_ben")
    assert (block["block"], block["exists"], block["secrets"]) == ({"sound": "dong"}, False, [])
    assert found["ignored"] == (["theme"] if "theme" in text else [])


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "{'a': 1}", '{"bells": {}}', '{"bells": {"a": 1}}', '{"a": {"b": NaN}}']
)
async def test_pasted_text_that_holds_no_block_is_refused_with_what_is_wrong(asker, text):
    answer = (await read(asker, text))[1]
    assert answer["error"]["type"] == "invalid_block"


async def test_secrets_in_a_pasted_block_are_found_where_clients_keep_them(asker):
    block = {
        "args": ["-y", "srv", "--api-key", "abc-1", "--token=abc-2", "--port", "8080", TOKEN],
        "env": {"GITHUB_TOKEN": "abc-3", "DB": "postgres://me:abc-4@host/db", "LEVEL": "debug", "OWN_KEY": "${KEY}"},
        "headers": {"Authorization": "Bearer abc-5", "Accept": "text/plain"},
    }
    (found,) = (await read(asker, json.dumps({"bells": {"GitHub": block}})))[1]["blocks"]
    assert {each["path"]: (each["name"], each["value"], each["instead"]) for each in found["secrets"]} == {
        "/args/3": ("github_api_key", "abc-1", "${secret:github_api_key}"),
        "/args/4": ("github_token", "abc-2", "--token=${secret:github_token}"),
        "/args/7": ("github_secret", TOKEN, "${secret:github_secret}"),
        "/env/GITHUB_TOKEN": ("github_token_2", "abc-3", "${secret:github_token_2}"),
        "/env/DB": ("github_db", "postgres://me:abc-4@host/db", "${secret:github_db}"),
        "/headers/Authorization": ("github_authorization", "abc-5", "Bearer ${secret:github_authorization}"),
    }


async def test_changed_secret_of_a_block_counts_from_the_next_reload_on_and_the_module_says_so(server, asker, person):
    block = {"sound": "ding", "token": "${secret:small_token}"}
    await change(asker, person, {"small": block}, secrets={"small_token": TOKEN})
    assert (await state(asker, "bell_small"))["block"]["isSecretChanged"] is False
    status, answer = await asker.ask("PUT", "/api/secrets/small_token", {"value": "another-value"})
    assert status == 403
    await decided(person, answer)
    assert (await state(asker, "bell_small"))["block"]["isSecretChanged"] is True
    assert (await asker.ask("POST", "/api/modules/bell_small/reload"))[0] == 200
    assert (await state(asker, "bell_small"))["block"]["isSecretChanged"] is False


async def test_family_that_was_installed_since_the_server_started_takes_blocks(site, agentcore_client):
    site.uninstall(bells.install(site))
    server = await agentcore_client()
    bells.install(site)
    asker, person = await page(server), await approver(server)
    await change(asker, person, {"small": {"sound": "ding"}})
    assert (await state(asker, "bell_small"))["state"] == "ready"
