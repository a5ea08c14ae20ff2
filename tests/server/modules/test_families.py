"""Families of modules: blocks of app.json that are modules, through the API of a real server."""

import json
import sys
from typing import Any

import pytest

from agentcore.config.config_errors import ConfigError
from tests.core.installing import Site
from tests.server.conftest import MakeServer, Running
from tests.server.modules import bells

pytestmark = pytest.mark.spec("K10")


async def rung(server: Running, module: str) -> Any:
    envelope = await server.call(f"{module}_ring")
    return envelope["content"][0]["text"] if envelope["ok"] else envelope["error"]


async def module(server: Running, name: str) -> Any:
    status, found = await server.get(f"/api/modules/{name}")
    assert status == 200, found
    return found


def rewrite(server: Running, **changes: Any) -> None:
    """Edit app.json by hand."""
    file = server.host.config.file
    file.write_text(json.dumps(json.loads(file.read_text()) | changes, indent=2))


async def test_listed_block_is_a_module_whose_tool_is_called(site: Site, make_server: MakeServer) -> None:
    server = await make_server(app={"modules": ["bell_big_ben"], "bells": {"Big-Ben": {"sound": "dong", "times": 2}}})
    found = await module(server, "bell_big_ben")
    assert (found["state"], found["title"], found["distribution"]) == ("ready", "Bell dong", "acme-bells")
    assert await rung(server, "bell_big_ben") == "dong dong"


async def test_code_is_imported_only_when_a_module_of_the_family_is_listed(site: Site, make_server: MakeServer) -> None:
    bells.install(site, "raise SystemExit('imported')")
    server = await make_server(app={"bells": {"small": {"sound": "ding"}}})
    found = await module(server, "bell_small")
    assert (found["state"], found["listed"], found["distribution"]) == ("stopped", False, "acme-bells")
    assert "'small' of bells" in found["reason"]
    assert "acme_bells" not in sys.modules
    assert "bell_small" in [each["name"] for each in (await server.get("/api/modules"))[1]["modules"]]


async def test_block_is_enabled_and_disabled_like_any_module(site: Site, make_server: MakeServer) -> None:
    server = await make_server(app={"bells": {"small": {"sound": "ding"}, "big": {"sound": "dong"}}})
    status, found = await server.post("/api/modules/bell_small/enable")
    assert (status, found["state"]) == (200, "ready")
    assert json.loads(server.host.config.file.read_text())["modules"] == ["bell_small"]
    assert await rung(server, "bell_small") == "ding"
    assert (await module(server, "bell_big"))["state"] == "stopped"
    await server.post("/api/modules/bell_small/disable")
    assert json.loads(server.host.config.file.read_text())["modules"] == []
    assert (await rung(server, "bell_small"))["type"] == "unknown_tool"


async def test_wrong_block_fails_alone_and_the_reason_names_its_place(site: Site, make_server: MakeServer) -> None:
    blocks = {
        "good": {"sound": "ding"},
        "wrong": {"sound": "ding", "times": "many"},
        "empty": {},
        "text": "ding",
        "key": {"sound": "ding", "tims": 2},
        "quiet": {"sound": "silence"},
    }
    server = await make_server(app={"modules": [f"bell_{key}" for key in blocks], "bells": blocks})
    reasons = {}
    for key in blocks:
        found = await module(server, f"bell_{key}")
        reasons[key] = found["reason"] if found["state"] == "failed" else found["state"]
    file = server.host.config.file
    assert reasons["good"] == "ready"
    assert reasons["wrong"].endswith("bells.wrong.times: expected a valid integer, found text")
    assert reasons["wrong"].startswith(f"{file}:")
    assert reasons["empty"].endswith("bells.empty: the key 'sound' is missing, and it has no default")
    assert reasons["text"].endswith("bells.text: expected an object, found text")
    assert reasons["key"].endswith("bells.key.tims: unknown key; did you mean 'times'?")
    assert reasons["quiet"] == "ValueError: silence is no sound"
    assert await rung(server, "bell_good") == "ding"


async def test_failing_call_of_one_block_leaves_the_others_alone(site: Site, make_server: MakeServer) -> None:
    blocks = {"bad": {"sound": "broken"}, "good": {"sound": "ding"}}
    server = await make_server(app={"modules": ["bell_bad", "bell_good"], "bells": blocks})
    assert (await rung(server, "bell_bad"))["type"] == "internal_error"
    assert await rung(server, "bell_good") == "ding"


async def test_two_keys_with_one_name_are_both_refused_naming_each_other(site: Site, make_server: MakeServer) -> None:
    blocks = {"@a/b": {"sound": "ding"}, "A-B": {"sound": "dong"}, "c": {"sound": "ding"}}
    server = await make_server(app={"modules": ["bell_a_b", "bell_c"], "bells": blocks})
    found = await module(server, "bell_a_b")
    assert found["state"] == "failed"
    assert "'@a/b'" in found["reason"]
    assert "'A-B'" in found["reason"]
    assert (await module(server, "bell_c"))["state"] == "ready"


async def test_name_that_another_distribution_has_is_refused_until_a_person_chooses(
    site: Site, make_server: MakeServer
) -> None:
    source = "from agentcore.api import Module\nclass Other(Module): pass\n"
    site.install("acme-other", {"bell_small": "acme_other:Other"}, {"acme_other.py": source})
    server = await make_server(app={"modules": ["bell_small"], "bells": {"small": {"sound": "ding"}}})
    found = await module(server, "bell_small")
    assert (found["state"], [each["source"] for each in found["others"]]) == ("failed", ["acme-other", "acme-bells"])
    assert "acme-other 1.0" in found["reason"]
    assert "acme-bells 1.0 for block 'small' of bells" in found["reason"]


async def test_name_that_its_own_distribution_has_is_refused_naming_both(site: Site, make_server: MakeServer) -> None:
    site.install(
        "acme-bells", {"bell_small": "acme_bells:Ringing"}, {"acme_bells.py": bells.SOURCE}, groups=bells.GROUPS
    )
    server = await make_server(app={"modules": ["bell_small"], "bells": {"small": {"sound": "ding"}}})
    found = await module(server, "bell_small")
    assert found["state"] == "failed"
    assert "is both acme-bells 1.0" in found["reason"]
    assert "for block 'small' of bells" in found["reason"]


async def test_listed_name_without_a_block_is_missing_and_the_near_one_named(
    site: Site, make_server: MakeServer
) -> None:
    server = await make_server(app={"modules": ["bell_smal"], "bells": {"small": {"sound": "ding"}}})
    found = await module(server, "bell_smal")
    assert found["state"] == "missing"
    assert found["reason"] == "no block of bells in app.json makes module 'bell_smal'; did you mean 'bell_small'?"


async def test_reload_takes_the_new_block_and_leaves_the_others_as_they_run(
    site: Site, make_server: MakeServer
) -> None:
    blocks = {"small": {"sound": "ding"}, "big": {"sound": "dong"}}
    server = await make_server(app={"modules": ["bell_small", "bell_big"], "bells": blocks})
    before = server.host.modules.records["bell_big"]
    rewrite(server, bells={"small": {"sound": "dang"}, "big": {"sound": "dung"}})
    assert (await module(server, "bell_small"))["isChangedOnDisk"]
    assert await rung(server, "bell_small") == "ding"
    status, found = await server.post("/api/modules/bell_small/reload")
    assert (status, found["state"], found["isChangedOnDisk"]) == (200, "ready", False)
    assert await rung(server, "bell_small") == "dang"
    assert await rung(server, "bell_big") == "dong"
    assert server.host.modules.records["bell_big"] is before


async def test_block_that_became_wrong_or_went_leaves_the_old_one_running(site: Site, make_server: MakeServer) -> None:
    server = await make_server(app={"modules": ["bell_small"], "bells": {"small": {"sound": "ding"}}})
    rewrite(server, bells={"small": {"sound": 3}})
    _, found = await server.post("/api/modules/bell_small/reload")
    assert (found["state"], "bells.small.sound: expected text" in found["reloadError"]) == ("ready", True)
    assert await rung(server, "bell_small") == "ding"
    rewrite(server, bells={})
    _, found = await server.post("/api/modules/bell_small/reload")
    assert (found["state"], "no block of bells" in found["reloadError"]) == ("ready", True)
    assert await rung(server, "bell_small") == "ding"


async def test_changed_code_is_taken_by_all_modules_of_the_distribution(site: Site, make_server: MakeServer) -> None:
    blocks = {"small": {"sound": "ding"}, "big": {"sound": "dong"}}
    server = await make_server(app={"modules": ["bell_small", "bell_big"], "bells": blocks})
    bells.install(site, bells.SOURCE.replace('MARK = ""', 'MARK = "!"'))
    _, found = await server.post("/api/modules/bell_small/reload")
    assert found["state"] == "ready"
    assert (await rung(server, "bell_small"), await rung(server, "bell_big")) == ("ding!", "dong!")


async def test_own_settings_of_a_block_come_from_its_file_and_the_environment(
    site: Site, make_server: MakeServer
) -> None:
    blocks = {"small": {"sound": "ding"}, "big": {"sound": "dong"}}
    server = await make_server(
        app={"modules": ["bell_small", "bell_big"], "bells": blocks, "config": {"bell_small": {"loud": True}}},
        environ={"AGENTCORE_CONFIG__BELL_BIG__LOUD": "true", "AGENTCORE_BELLS__BIG__TIMES": "2"},
    )
    assert (await rung(server, "bell_small"), await rung(server, "bell_big")) == ("DING", "DONG DONG")
    (server.host.config.folder / "modules" / "bell_small.json").write_text('{"loud": false}')
    await server.post("/api/modules/bell_small/reload")
    assert await rung(server, "bell_small") == "ding"


async def test_key_is_an_error_where_no_family_declares_it(site: Site, make_server: MakeServer) -> None:
    with pytest.raises(ConfigError, match=r"bels: unknown key; did you mean 'bells'\?"):
        await make_server(app={"bels": {}})


@pytest.mark.parametrize(
    "groups",
    [
        {"agentcore.module_families": {"bell": "acme_bells:family"}},
        {**bells.GROUPS, "agentcore.module_family_keys": {"bells": "acme_bells:other"}},
        {**bells.GROUPS, "agentcore.module_families": {"Bell": "acme_bells:family"}},
    ],
)
async def test_family_whose_metadata_are_wrong_declares_nothing(
    site: Site, make_server: MakeServer, groups: dict[str, dict[str, str]]
) -> None:
    bells.install(site, groups=groups)
    with pytest.raises(ConfigError, match="bells: unknown key"):
        await make_server(app={"bells": {}})


async def test_key_of_the_core_stays_the_cores(site: Site, make_server: MakeServer) -> None:
    bells.install(site, groups={**bells.GROUPS, "agentcore.module_family_keys": {"limits": "acme_bells:family"}})
    with pytest.raises(ConfigError, match=r"limits\.small: unknown key"):
        await make_server(app={"limits": {"small": {"sound": "ding"}}})


NAMES = {
    "@playwright/mcp": "bell_playwright_mcp",
    "Big Ben": "bell_big_ben",
    "a__b--c": "bell_a_b_c",
    "3d": "bell_3d",
    "_x_": "bell_x",
    "Çà": None,
    "///": None,
    "": None,
    "x" * 59: f"bell_{'x' * 59}",
    "x" * 60: None,
}
"""Of modules by their keys; None: no name can be made of it."""


async def test_name_of_a_module_is_made_of_its_key(site: Site, make_server: MakeServer) -> None:
    server = await make_server(app={"bells": {key: {"sound": "ding"} for key in NAMES}})
    listed = [each["name"] for each in (await server.get("/api/modules"))[1]["modules"]]
    assert sorted(each for each in listed if each.startswith("bell")) == sorted(filter(None, NAMES.values()))


HEAD = "from agentcore.api import BaseModel, Module\n"
PLAIN = HEAD + "class Plain(Module):\n    def __init__(self, name, block):\n        self.title = block['sound']\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (PLAIN + "family = Plain", "ready ding"),
        (PLAIN + "def family(name, block: dict): return Plain(name, block)", "ready ding"),
        ("from __future__ import annotations\n" + bells.SOURCE.strip(), "ready Bell ding"),
        (
            "family = None",
            "the family's entry point must be a function of a name and a block, not None",
        ),
        ("def family(name): pass", "to take a name and a block, and takes 1"),
        ("def family(name, block): pass", "failed TypeError: NoneType implements none of the hooks"),
        ("def family(name, block: Nothing): pass", "failed NameError: name 'Nothing' is not defined"),
        (HEAD + "class M(Module): name = 'x'\ndef family(name, block): return M()", "calls itself 'x'"),
        ("def family(name, block): raise SystemExit('no')", "SystemExit: no"),
        ("other = 1", "has no attribute 'family'"),
    ],
)
async def test_what_a_family_may_be_and_what_is_said_where_it_is_something_else(
    site: Site, make_server: MakeServer, source: str, said: str
) -> None:
    bells.install(site, source)
    server = await make_server(app={"modules": ["bell_small"], "bells": {"small": {"sound": "ding"}}})
    found = await module(server, "bell_small")
    assert said in " ".join((found["state"], found["reason"] or found["title"]))


async def test_block_may_come_from_the_environment_alone(site: Site, make_server: MakeServer) -> None:
    environ = {"AGENTCORE_BELLS": '{"small": {"sound": "ding", "times": 2}}'}
    server = await make_server(app={"modules": ["bell_small"]}, environ=environ)
    assert await rung(server, "bell_small") == "ding ding"
    assert (await module(server, "bell_small"))["block"]["variable"] == "AGENTCORE_BELLS"


async def test_distribution_that_is_installed_while_the_server_runs_brings_its_blocks(
    site: Site, make_server: MakeServer
) -> None:
    site.uninstall(bells.install(site))
    server = await make_server(app={})
    rewrite(server, bells={"small": {"sound": "ding", "env": {"A": "s3cret"}}})
    bells.install(site)
    found = await module(server, "bell_small")
    assert (found["state"], json.loads(found["block"]["text"])["env"]) == ("stopped", {"A": "•••"})
    assert (await server.post("/api/modules/bell_small/enable"))[1]["state"] == "ready"
    assert await rung(server, "bell_small") == "ding"


async def test_missing_requirement_of_the_distribution_is_named_before_its_code_is_imported(
    site: Site, make_server: MakeServer
) -> None:
    files = {"acme_bells.py": "raise SystemExit('imported')"}
    site.install("acme-bells", {}, files, groups=bells.GROUPS, headers="Requires-Dist: acme-clapper>=2\n")
    server = await make_server(app={"modules": ["bell_small"], "bells": {"small": {"sound": "ding"}}})
    assert "acme-clapper>=2, which is not installed" in (await module(server, "bell_small"))["reason"]


async def test_another_distribution_that_takes_over_the_family_waits_for_a_person(
    site: Site, make_server: MakeServer
) -> None:
    server = await make_server(app={"modules": ["bell_small"], "bells": {"small": {"sound": "ding"}}})
    site.uninstall(bells.install(site))
    files = {"acme_thief.py": bells.SOURCE}
    groups = {group: dict.fromkeys(names, "acme_thief:family") for group, names in bells.GROUPS.items()}
    site.install("acme-thief", {}, files, groups=groups)
    _, found = await server.post("/api/modules/bell_small/reload")
    assert "was acme-bells, and is acme-thief 1.0" in found["reloadError"]
    assert "acme_thief" not in sys.modules
    assert await rung(server, "bell_small") == "ding"
