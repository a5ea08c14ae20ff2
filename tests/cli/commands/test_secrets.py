"""References in settings on the command line: what a module gets, what is shown, what is wrong."""

import json

import pytest

pytestmark = pytest.mark.spec("K5")

KEYED = '''
import logging

from agentcore.api import Module, ToolError, tool


class Keyed(Module):
    """Uses a key."""

    class Settings(Module.Settings):
        key: str = "none"
        port: int = 1
        parts: list[str] = []
        extra: dict[str, str] = {}

    @tool(read_only=True)
    async def keyed_show(self) -> dict:
        """Tell what was set, turned round."""
        settings = self.runtime.settings
        return {"key": settings.key[::-1], "port": settings.port, "parts": settings.parts, "extra": settings.extra}

    @tool(read_only=True)
    async def keyed_fail(self) -> str:
        """Fail, and tell the key."""
        logging.getLogger("keyed").warning("refused: %s", self.runtime.settings.key)
        raise ToolError("bad_key", f"the key {self.runtime.settings.key} is refused", key=self.runtime.settings.key)

    @tool(read_only=True)
    async def keyed_defect(self) -> str:
        """Fail as nobody has foreseen."""
        raise ZeroDivisionError(self.runtime.settings.key)
'''


@pytest.fixture
def keyed(place):
    place.add_module("keyed", KEYED)
    return place


def configure(place, **settings):
    place.write_app(modules=["clock", "keyed"], config={"keyed": settings})


def shown(place):
    return place.run("call", "keyed_show", "--json").json["data"]


def test_references_stand_for_variables_defaults_and_secrets(keyed):
    keyed.environ |= {"PORT_NUMBER": "8123", "EMPTY": ""}
    assert keyed.run("secrets", "set", "service.key", stdin="s3cret-value\n").code == 0
    configure(
        keyed,
        key="k-${secret:service.key}!",
        port="${PORT_NUMBER}",
        parts=["${EMPTY}", "${EMPTY:-a}", "${UNSET_ONE:-b}${UNSET_ONE:-}", "$${PORT_NUMBER}", "$PORT_NUMBER"],
        extra={"one": "x${PORT_NUMBER}y"},
    )
    assert shown(keyed) == {
        "key": "k-s3cret-value!"[::-1],
        "port": 8123,
        "parts": ["", "a", "b", "${PORT_NUMBER}", "$PORT_NUMBER"],
        "extra": {"one": "x8123y"},
    }


def test_reference_to_nothing_stops_that_module_alone_and_says_what_to_do(keyed):
    configure(keyed, key="${secret:absent}", parts=["${NOT_SET}", "${not good}", "${open", "${AGENTCORE_TOKEN}"])
    done = keyed.run("call", "clock_text", "text=x")
    assert done.out == "x\n"
    reason = keyed.run("modules", "info", "keyed", "--json").json["reason"]
    app = keyed.folder / "app.json"
    places = [line.partition(": ")[2] for line in reason.splitlines()]
    assert all(line.startswith(f"{app}:") for line in reason.splitlines())
    assert [place.partition(": ")[0] for place in places] == [
        "config.keyed.key",
        *(f"config.keyed.parts[{at}]" for at in range(4)),
    ]
    assert "agentcore secrets set absent" in places[0]
    assert "there is no variable 'NOT_SET'" in places[1]
    assert "${not good} is no reference; write ${VAR}" in places[2]
    assert "is no reference" in places[3]
    assert "the key to agentcore itself" in places[4]


def test_references_are_shown_and_never_what_they_stand_for(keyed):
    keyed.environ["PLACE_KEY"] = "s3cret-of-place"
    keyed.run("secrets", "set", "one", stdin="s3cret-value")
    configure(keyed, key="${secret:one}", port="${UNSET_ONE:-8123}", parts=["${PLACE_KEY}"])
    shown = keyed.run("config", "show", "--json")
    assert shown.json["values"]["config"]["keyed"]["parts"] == ["${PLACE_KEY}"]
    assert "${UNSET_ONE:-8123}" in shown.out
    everything = [
        shown,
        keyed.run("config", "show"),
        keyed.run("doctor"),
        keyed.run("secrets", "list"),
        keyed.run("modules", "info", "keyed"),
    ]
    assert [done.out + done.err for done in everything if "s3cret" in done.out + done.err] == []


def test_secret_does_not_come_back_in_an_error_of_the_module_that_has_it(keyed):
    keyed.run("secrets", "set", "one", stdin="s3cret-value")
    configure(keyed, key="${secret:one}")
    done = keyed.run("call", "keyed_fail")
    assert (done.code, done.err.splitlines()[0]) == (1, "bad_key: the key ••• is refused")
    assert "s3cret" not in done.err + keyed.run("call", "keyed_fail", "--json").out


def test_secret_does_not_come_back_in_the_log(keyed, start_server):
    keyed.run("secrets", "set", "one", stdin="s3cret-value")
    configure(keyed, key="k-${secret:one}")
    server = start_server()
    keyed.run("call", "keyed_fail")
    keyed.run("call", "keyed_defect")
    failed = server.wait_for("call_failed")
    assert "ZeroDivisionError: k-•••" in failed["traceback"]
    assert any("refused: k-•••" in json.dumps(line, ensure_ascii=False) for line in server.log)
    assert [line for line in server.log if "s3cret" in json.dumps(line)] == []


def test_module_runs_on_masked_where_a_reload_finds_no_secret(keyed, start_server):
    keyed.run("secrets", "set", "one", stdin="s3cret-value")
    configure(keyed, key="${secret:one}")
    start_server()
    configure(keyed, key="${secret:one}${secret:absent}")
    done = keyed.run("modules", "reload", "keyed")
    assert done.code == 1
    assert "there is no secret 'absent'" in done.out
    assert shown(keyed)["key"] == "s3cret-value"[::-1]
    assert keyed.run("call", "keyed_fail").err.startswith("bad_key: the key ••• is refused")


@pytest.mark.parametrize("key", ["s3cret-literal", "${secret:one}"])
def test_module_that_a_reload_brings_back_stays_masked(keyed, start_server, key):
    keyed.run("secrets", "set", "one", stdin="s3cret-value")
    configure(keyed, key=key)
    start_server()
    assert keyed.run("call", "keyed_fail").err.startswith("bad_key: the key ••• is refused")
    keyed.add_module(
        "keyed", KEYED + "\n    def init(self, runtime):\n        raise ValueError(runtime.settings.key)\n"
    )
    done = keyed.run("modules", "reload", "keyed")
    assert "the code from before was started again" in done.out
    assert keyed.run("call", "keyed_fail").err.startswith("bad_key: the key ••• is refused")
    everything = [done, keyed.run("modules", "info", "keyed"), keyed.run("modules", "info", "keyed", "--json")]
    assert [each.out + each.err for each in everything if "s3cret" in each.out + each.err] == []


def test_validator_that_quotes_a_value_shows_no_secret_of_it(keyed):
    source = KEYED.replace('key: str = "none"', "key: Annotated[str, AfterValidator(refuse)]")
    refuse = "def refuse(key):\n    raise ValueError(f'no service has the key {key}')\n\n\n"
    imports = "from typing import Annotated\nfrom pydantic import AfterValidator\n"
    keyed.add_module("keyed", imports + refuse + source)
    configure(keyed, key="s3cret-literal")
    done = keyed.run("config", "show")
    assert "no service has the key •••" in done.err
    everything = [done, keyed.run("doctor"), keyed.run("modules", "list")]
    assert [each.out + each.err for each in everything if "s3cret" in each.out + each.err] == []


def test_names_are_listed_with_their_modules_and_removed_when_that_is_meant(keyed):
    configure(keyed, key="${secret:one}${secret:two}")
    assert keyed.run("secrets", "set", "one", stdin="s3cret-value").out == "one is set.\n"
    listed = keyed.run("secrets", "list", "--json").json
    assert [(each["name"], each["usedBy"]) for each in listed["secrets"]] == [("one", ["keyed"])]
    assert listed["missing"] == {"two": ["keyed"]}
    assert keyed.run("secrets", "remove", "one").code == 2
    done = keyed.run("secrets", "remove", "one", "--yes")
    assert (done.out, done.err) == ("one is removed.\n", "one is named in the settings of: keyed\n")
    assert keyed.run("secrets", "list", "--json").json["secrets"] == []
    done = keyed.run("secrets", "remove", "one", "--yes")
    assert (done.code, "secret_not_found" in done.err or "there is no secret 'one'" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("1st", "x", "cannot name a secret"),
        ("a" * 65, "x", "cannot name a secret"),
        ("one", "", "the value is empty"),
        ("one", "a\0b", "a NUL character"),
        ("one", "x" * (64 * 1024 + 1), "larger than 65536 bytes"),
    ],
)
def test_what_cannot_be_a_secret_is_refused(keyed, name, value, reason):
    done = keyed.run("secrets", "set", name, stdin=value)
    assert done.code != 0
    assert reason in done.err
    assert keyed.run("secrets", "list", "--json").json["secrets"] == []


def test_secrets_lie_in_a_file_of_their_owner_and_are_recorded_by_name(keyed):
    keyed.run("secrets", "set", "one", stdin="s3cret-value")
    file = keyed.state / "secrets.json"
    assert file.stat().st_mode & 0o777 == 0o600
    audit = keyed.run("audit", "list", "--json").out
    assert "secret_set" in audit
    assert "s3cret" not in audit
    assert keyed.run("audit", "verify").code == 0


def test_server_has_a_person_confirm_a_secret_and_shows_its_name_alone(keyed, start_server):
    configure(keyed, key="${secret:one}")
    server = start_server()
    done = keyed.run("secrets", "set", "one", stdin="s3cret-value")
    assert (done.code, done.out) == (1, "")
    assert "waits for you in the approval view" in done.err
    assert keyed.run("secrets", "list", "--json").json["missing"] == {"one": ["keyed"]}
    assert not (keyed.state / "secrets.json").exists()
    server.stop()
    assert "s3cret" not in "".join(
        path.read_bytes().decode("latin-1") for path in keyed.state.rglob("*") if path.is_file()
    )


def test_value_is_asked_for_at_a_terminal_and_not_shown(keyed, on_terminal):
    terminal = on_terminal("secrets", "set", "one")
    terminal.expect("one:")
    terminal.type("s3cret-value\n")
    code, seen = terminal.end()
    assert (code, "one is set." in seen, "s3cret" in seen) == (0, True, False)
    configure(keyed, key="${secret:one}")
    assert shown(keyed)["key"] == "s3cret-value"[::-1]


def test_server_refuses_references_in_its_own_settings(keyed):
    keyed.write_app(
        modules=[],
        server={"port": 0, "host": "${HOST_NAME}"},
        approvals={"rules": [{"decision": "deny", "command": "echo ${HOME}"}]},
    )
    done = keyed.run("serve")
    assert done.code == 2
    assert "server.host: settings of the server hold no references" in done.err
    assert "approvals" not in done.err


def test_damaged_file_stops_modules_that_name_a_secret_and_no_other(keyed):
    configure(keyed, key="${secret:one}")
    keyed.run("secrets", "set", "one", stdin="s3cret-value")
    file = keyed.state / "secrets.json"
    file.write_text(file.read_text()[:-3])
    assert keyed.run("call", "clock_text", "text=x").out == "x\n"
    reason = keyed.run("modules", "info", "keyed", "--json").json["reason"]
    done = keyed.run("secrets", "list")
    assert done.code != 0
    for text in (reason, done.err):
        assert f"{file} is damaged; remove it, and set the secrets again" in text
        assert "s3cret" not in text


def test_value_that_is_no_text_is_refused_without_being_quoted(keyed):
    command = keyed.start("secrets", "set", "one")
    command.stdin.buffer.write(b"s3cret\xff")
    _, err = command.communicate()
    assert command.returncode == 2
    assert "no text in UTF-8" in err
    assert "s3cret" not in err
