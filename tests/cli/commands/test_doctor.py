"""`agentcore doctor`."""

import json
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

KEY = "sk-hunter2"


class _Listing(BaseHTTPRequestHandler):
    """Lists models to who has the key, as OpenAI does."""

    def do_GET(self):
        is_known = self.headers.get("Authorization") == f"Bearer {KEY}"
        self.send_response(200 if is_known else 401)
        self.end_headers()
        self.wfile.write(json.dumps({"data": [{"id": name} for name in ("small", "large")]}).encode())

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def provider():
    """The address of a provider that has two models."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Listing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def said(done):
    """The levels and sentences by subject."""
    return {finding["subject"]: (finding["level"], finding["said"]) for finding in done.json["findings"]}


def levels(done):
    return {finding["subject"]: finding["level"] for finding in done.json["findings"]}


def test_sound_installation_has_no_problem(place):
    done = place.run("doctor", "--json")
    found = levels(done)
    assert done.code == 0
    assert "problem" not in found.values()
    assert {found[subject] for subject in ("python", "packages", "app.json", "workspace", "state", "server")} == {"ok"}
    assert found["module clock"] == "ok"
    assert re.fullmatch(r"\d+ tools, started in [\d,]+ ms", said(done)["module clock"][1])


def test_module_that_failed_is_a_problem_with_its_reason(place, add_broken_module):
    add_broken_module()
    done = place.run("doctor")
    assert done.code == 1
    assert "module broken: failed: no network" in done.out


def test_module_that_is_not_installed_is_a_problem(place):
    place.write_app(modules=["clock", "nowhere"])
    done = place.run("doctor", "--json")
    assert (done.code, levels(done)["module nowhere"]) == (1, "problem")


def test_invalid_app_json_is_a_problem(place):
    (place.folder / "app.json").write_text("{")
    done = place.run("doctor", "--json")
    assert (done.code, levels(done)["app.json"]) == (1, "problem")


@pytest.mark.spec("S1")
def test_token_that_others_can_read_is_a_problem(place):
    place.run("tools")
    (place.state / "token").chmod(0o644)
    done = place.run("doctor")
    assert done.code == 1
    assert "chmod go=" in done.out


def test_port_that_is_taken_is_a_problem(place):
    with socket.create_server(("127.0.0.1", 0)) as other:
        place.write_app(modules=["clock"], server={"port": other.getsockname()[1]})
        done = place.run("doctor", "--json")
    assert (done.code, levels(done)["server"]) == (1, "problem")


def test_root_that_is_missing_is_a_problem(place):
    place.write_app(modules=["clock"], workspace={"roots": ["nowhere"]})
    assert levels(place.run("doctor", "--json"))["workspace"] == "problem"


def test_missing_app_json_is_a_note_that_says_what_to_do(empty_place):
    done = empty_place.run("doctor")
    assert "agentcore init writes one" in done.out


def test_secrets_that_settings_spell_out_are_named_with_the_command_that_stores_them(place):
    place.run("secrets", "set", "kept", stdin="s3cret-0")
    settings = {"api_key": "s3cret-1", "region": "north", "other": "${secret:kept}", "max_tokens": 12}
    place.write_app(modules=["clock"], config={"later": settings})
    (place.folder / "modules" / "later.json").write_text('{"login": {"password": "s3cret-2"}}')
    done = place.run("doctor", "--json")
    found = {each["said"]: each["advice"] for each in done.json["findings"] if each["subject"] == "secrets in settings"}
    app, own = sorted(found, key=lambda said: "later.json" in said)
    assert re.search(r"app\.json:\d+: config\.later\.api_key looks like a secret", app)
    assert found[app] == (
        "agentcore secrets set later_api_key stores it; then write ${secret:later_api_key} in its place"
    )
    assert "later.json:1: login.password looks like a secret" in own
    assert "agentcore secrets set later_password" in found[own]
    assert done.code == 0
    assert "s3cret" not in done.out + done.err + place.run("doctor").out


def test_secret_by_the_model_of_its_module_is_named_by_doctor_whatever_it_is_called(place):
    place.write_app(modules=["clock"], config={"clock": {"zone": "s3cret-zone", "code": "s3cret-code"}})
    done = place.run("doctor", "--json")
    (found,) = [each for each in done.json["findings"] if each["subject"] == "secrets in settings"]
    assert "config.clock.code looks like a secret" in found["said"]
    assert "agentcore secrets set clock_code" in found["advice"]
    assert "s3cret-code" not in done.out
    place.write_app(modules=["clock"], config={"clock": {"code": "${secret:clock_code}"}})
    assert "secrets in settings" not in levels(place.run("doctor", "--json"))


def test_settings_without_secrets_are_no_matter_for_doctor(place):
    place.run("secrets", "set", "kept", stdin="s3cret-0")
    settings = {"api_key": "${secret:kept}", "region": "north", "max_tokens": 12}
    place.write_app(modules=["clock"], config={"later": settings})
    assert "secrets in settings" not in levels(place.run("doctor", "--json"))


def test_notes_of_modules_are_told_with_their_advice(place):
    source = (
        "from agentcore.api import Module\n\n"
        "class Needy(Module):\n    '''Needs a program.'''\n\n"
        "    def init(self, runtime):\n"
        "        runtime.note('a program', 'was not found', advice='install it')\n"
    )
    place.add_module("needy", source)
    place.write_app(modules=["needy"], server={"port": 0})
    done = place.run("doctor", "--json")
    noted = next(finding for finding in done.json["findings"] if finding["subject"] == "a program")
    assert (noted["level"], noted["said"], noted["advice"]) == ("note", "was not found", "install it")
    assert done.code == 0


def test_without_a_model_it_says_what_a_chat_lacks_and_the_way_to_one(place):
    done = place.run("doctor", "--json")
    chat = next(finding for finding in done.json["findings"] if finding["subject"] == "chat")
    assert (done.code, chat["level"]) == (0, "note")
    assert "no model is set up" in chat["said"]
    assert chat["advice"]
    assert said(done)["provider openai"] == ("ok", "no key")
    assert said(done)["libraries of the chat"] == ("ok", "installed")


def test_keys_and_models_are_told_with_their_origin_and_asked_only_when_that_is_wanted(place, provider):
    place.write_app(modules=["clock"], models={"m": {"provider": "openai", "model": "large"}})
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": provider}
    plain, online = place.run("doctor", "--json", environ=environ), place.run("doctor", "--online", environ=environ)
    assert said(plain)["provider openai"] == ("ok", f"the environment has its key; it is asked at {provider}")
    assert said(plain)["model m"] == ("ok", f"openai:large at {provider}")
    assert said(plain)["chat"] == ("ok", "a chat would use m")
    assert "small" not in plain.out
    assert "2 models (small, large)" in online.out
    assert online.code == 0
    assert KEY not in plain.out + plain.err + online.out + online.err


def test_key_that_the_provider_refuses_is_a_problem(place, provider):
    done = place.run("doctor", "--online", environ={"OPENAI_API_KEY": "sk-other", "OPENAI_BASE_URL": provider})
    assert done.code == 1
    assert "The provider refused the key." in done.out
    assert "sk-other" not in done.out + done.err


def test_what_the_running_server_has_counts_and_not_the_terminals_environment(place, provider, start_server):
    place.environ |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": provider}
    start_server()
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        del place.environ[name]
    done = place.run("doctor", "--online", "--json")
    assert done.code == 0
    subjects = [(finding["subject"], finding["said"]) for finding in done.json["findings"]]
    assert ("provider openai", f"the environment has its key; it is asked at {provider}") in subjects
    assert ("provider openai", "asked for its models: 2 models (small, large)") in subjects


def test_model_with_an_address_and_a_key_of_its_own_is_asked_there(place, provider):
    own = {"provider": "openai", "model": "small", "base_url": provider, "api_key_env": "MY_KEY"}
    place.write_app(modules=["clock"], models={"mine": own})
    done = place.run("doctor", "--online", "--json", environ={"MY_KEY": KEY})
    assert said(done)[f"models at {provider}"] == ("ok", "asked for its models: 2 models (small, large)")
    assert KEY not in done.out


class LockedServer(BaseHTTPRequestHandler):
    """Refuses everything without a key, as LM Studio does."""

    def do_GET(self):
        content = json.dumps({"error": {"code": "invalid_api_key", "message": "An LM Studio API token is required"}})
        self.send_response(401)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def locked_server():
    """A model server that needs a key, at a port where one is looked for."""
    try:
        server = ThreadingHTTPServer(("127.0.0.1", 4891), LockedServer)
    except OSError as exc:
        pytest.skip(f"port 4891 is taken: {exc}")
    with server:
        threading.Thread(target=server.serve_forever).start()
        yield "http://127.0.0.1:4891/v1"
        server.shutdown()


def test_model_server_that_needs_a_key_is_named_by_doctor_and_by_init(place, locked_server, tmp_path):
    done = place.run("doctor", "--json")
    subjects = {finding["subject"]: finding for finding in done.json["findings"]}
    locked = subjects["local server lm_studio"]
    assert (done.code, locked["level"], locked["said"]) == (0, "note", f"needs a key, at {locked_server}")
    assert "enter the key of that server on the page" in locked["advice"]
    begun = place.run("init", str(tmp_path / "other"))
    assert f"LM Studio runs on this machine at {locked_server}, and needs a key." in begun.out


PRINTER = '''
import pathlib
from agentcore.api import Module, RequirementInfo, RequirementStatus

PRESS = pathlib.Path(__file__).with_name("press")


class Press:
    info = RequirementInfo(
        name="printing_press", title="Printing press", purpose="Printing needs one.",
        command="agentcore press install", download_bytes=170_000_000, is_installable=INSTALLABLE,
    )

    async def check(self):
        return RequirementStatus(PRESS.exists(), str(PRESS) if PRESS.exists() else "no press was found")

    async def install(self, report):
        report("Casting iron", 0.5)
        PRESS.touch()


class Printer(Module):
    """Prints."""

    def init(self, runtime):
        runtime.declare_requirement(Press())
'''


@pytest.fixture
def printer(place):
    def add(*, is_installable=True):
        place.add_module("printer", PRINTER.replace("INSTALLABLE", str(is_installable)))
        place.write_app(modules=["printer"], server={"port": 0})

    return add


def test_what_is_missing_is_a_note_with_the_command(place, printer):
    printer()
    done = place.run("doctor", "--json")
    finding = next(finding for finding in done.json["findings"] if finding["subject"] == "Printing press")
    assert (finding["level"], done.code) == ("note", 0)
    assert finding["said"] == "no press was found; needed by printer: Printing needs one."
    assert finding["advice"] == "agentcore press install (about 170 MB), or agentcore doctor --fix"


def test_fix_installs_it_with_its_progress(place, printer):
    printer()
    done = place.run("doctor", "--fix", "--json")
    assert "Casting iron" in done.err
    assert "Printing press: installed" in done.err
    assert said(done)["Printing press"][0] == "ok"
    assert "Nothing is missing" in place.run("doctor", "--fix").err


def test_fix_shows_the_command_of_what_only_the_user_can_install(place, printer):
    printer(is_installable=False)
    done = place.run("doctor", "--fix", "--json")
    assert "Printing press: run agentcore press install" in done.err
    assert said(done)["Printing press"][0] == "note"


def test_fix_works_beside_a_server_that_runs(place, printer, start_server):
    printer()
    start_server()
    done = place.run("doctor", "--fix", "--json")
    assert "Printing press: installed" in done.err
    assert said(done)["Printing press"][0] == "ok"
