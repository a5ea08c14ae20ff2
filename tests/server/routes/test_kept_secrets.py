"""Secrets over HTTP: asked for with page or token, kept once a person confirms them, given back by nothing."""

import json
from typing import Self

import pytest
from pydantic import field_validator, model_validator

from agentcore.api import Module, tool
from agentcore.store.credentials.secret_table import read_secrets
from tests.server.approving import approver, page

pytestmark = [pytest.mark.spec("S2"), pytest.mark.spec("K3")]

VALUE = "s3cret-value"


class Keyed(Module):
    """Uses a key."""

    name = "keyed"

    class Settings(Module.Settings):
        """What it takes."""

        key: str = "none"

    @tool(read_only=True)
    async def keyed_size(self) -> int:
        """Tell how long the key is."""
        return len(self.runtime.settings.key)


@pytest.fixture
async def server(agentcore_client):
    return await agentcore_client([Keyed])


@pytest.fixture
async def person(server):
    return await approver(server)


async def set_secret(asker, value=VALUE, name="one"):
    return await asker.ask("PUT", f"/api/secrets/{name}", {"value": value})


async def decide(person, answer, *, approved=True):
    change_id = answer["error"]["context"]["changeId"]
    return await person.ask("POST", f"/api/policy-changes/{change_id}/decision", {"approved": approved})


def kept(server):
    return {name: each.value.get_secret_value() for name, each in read_secrets(server.running.host.state.path).items()}


async def test_secret_waits_by_its_name_and_is_kept_when_confirmed(server, person):
    status, answer = await set_secret(await page(server))
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    waiting = (await person.ask("GET", "/api/approvals"))[1]
    (change,) = waiting["changes"]
    assert (change["kind"], change["subject"], change["paths"]) == ("secret_set", "one", ["/secrets/one"])
    assert VALUE not in json.dumps([answer, waiting])
    assert kept(server) == {}
    assert await decide(person, answer) == (200, {"ok": True})
    assert kept(server) == {"one": VALUE}
    listed = (await (await page(server)).ask("GET", "/api/secrets"))[1]
    assert [each["name"] for each in listed["secrets"]] == ["one"]
    assert VALUE not in json.dumps(listed)


async def test_refused_secret_is_never_kept(server, person):
    _, answer = await set_secret(await page(server))
    assert (await decide(person, answer, approved=False))[0] == 200
    assert kept(server) == {}


async def test_secret_is_removed_when_confirmed_and_one_that_is_not_there_is_told(server, person):
    of_page = await page(server)
    status, answer = await of_page.ask("DELETE", "/api/secrets/one")
    assert (status, answer["error"]["type"]) == (404, "secret_not_found")
    await decide(person, (await set_secret(of_page))[1])
    status, answer = await of_page.ask("DELETE", "/api/secrets/one")
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert kept(server) == {"one": VALUE}
    await decide(person, answer)
    assert kept(server) == {}


async def test_what_cannot_be_kept_is_refused_before_anybody_is_asked(server, person):
    of_page = await page(server)
    for value, name in (("", "one"), ("a\0b", "one"), ("x" * 65_537, "one"), ("x", "1st")):
        status, answer = await set_secret(of_page, value, name)
        assert (status, answer["error"]["type"]) == (400, "invalid_secret")
    assert (await person.ask("GET", "/api/approvals"))[1]["changes"] == []


@pytest.mark.more
@pytest.mark.slow
async def test_more_than_fits_is_refused_when_it_is_applied(server, person):
    of_page = await page(server)
    answers = []
    for number in range(65):
        _, asked = await set_secret(of_page, "x" * 65_536, f"n{number}")
        answers.append(await decide(person, asked))
    assert answers[-1][1]["error"]["type"] == "too_many_secrets"
    assert len(kept(server)) < 65


async def test_changed_secret_has_its_module_wait_for_a_reload(server, person):
    of_page = await page(server)
    address = "/api/settings/modules/keyed"
    await decide(person, (await set_secret(of_page))[1])
    view = (await of_page.ask("GET", address))[1]
    change = {"path": "/key", "value": "${secret:one}"}
    status, answer = await of_page.ask(
        "PUT", address, {"expected": view["digest"], "changes": [change], "reload": True}
    )
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert await decide(person, answer) == (200, {"ok": True})
    view = (await of_page.ask("GET", address))[1]
    assert (view["values"]["key"], view["waitsForReload"]) == ("${secret:one}", False)
    await decide(person, (await set_secret(of_page, "another-value"))[1])
    view = (await of_page.ask("GET", address))[1]
    assert (view["values"]["key"], view["waitsForReload"]) == ("${secret:one}", True)
    assert "another" not in json.dumps(view)


async def test_setting_that_names_what_is_not_kept_is_not_saved(server):
    of_page = await page(server)
    address = "/api/settings/modules/keyed"
    view = (await of_page.ask("GET", address))[1]
    change = {"path": "/key", "value": "${secret:absent}"}
    status, answer = await of_page.ask("PUT", address, {"expected": view["digest"], "changes": [change]})
    assert (status, answer["error"]["type"]) == (400, "invalid_settings")
    assert "agentcore secrets set absent" in answer["error"]["message"]


async def test_reference_that_is_tried_out_does_not_tell_what_it_stands_for(agentcore_client):
    class Choosy(Module):
        """Quotes what it does not take."""

        name = "choosy"

        class Settings(Module.Settings):
            """What it takes."""

            region: str = "north"

            @field_validator("region")
            @classmethod
            def _known(cls, value: str) -> str:
                if value != "north":
                    raise ValueError(f"there is no region {value!r}")
                return value

    server = await agentcore_client([Choosy])
    person, of_page = await approver(server), await page(server)
    await decide(person, (await set_secret(of_page))[1])
    address = "/api/settings/modules/choosy"
    view = (await of_page.ask("GET", address))[1]
    body = {"expected": view["digest"], "changes": [{"path": "/region", "value": "${secret:one}"}]}
    for where in (address, f"{address}?preview=diff"):
        status, answer = await of_page.ask("PUT", where, body)
        assert (status, answer["error"]["type"]) == (400, "invalid_settings")
        assert "there is no region '•••'" in answer["error"]["message"]
        assert VALUE not in json.dumps(answer)


async def test_settings_that_do_not_hold_show_no_secret_that_they_spell_out(agentcore_client):
    class Choosy(Module):
        """Quotes its key with what it does not take."""

        name = "choosy"

        class Settings(Module.Settings):
            """What it takes."""

            region: str = "north"
            login: dict[str, str]

            @model_validator(mode="after")
            def _known(self) -> Self:
                if self.region != "north":
                    raise ValueError(f"{self.login} is for north, not for {self.region}")
                return self

    server = await agentcore_client([Choosy], config={"config": {"choosy": {"login": {}}}})
    file = server.running.host.config.file  # which a person edits while the server runs
    settings = {"region": "south", "login": {"user": "plain-name", "token": VALUE}}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"config": {"choosy": settings}}))
    view = (await (await page(server)).ask("GET", "/api/settings/modules/choosy"))[1]
    (problem,) = view["problems"]
    assert "{'user': 'plain-name', 'token': '•••'} is for north, not for south" in problem["message"]
    assert VALUE not in json.dumps(view)
