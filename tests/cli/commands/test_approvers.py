"""`agentcore approvers`: pairing takes a code that only a person makes, and their word on the client."""

import json
import urllib.error
import urllib.request

import pytest

pytestmark = pytest.mark.spec("K11", "S2")


@pytest.fixture
def terminal(on_terminal):
    """The terminal of a server."""
    terminal = on_terminal("serve")
    terminal.expect_server()
    return terminal


@pytest.fixture
def start_pairing(place, terminal):
    """Start a client that shows a code of the server's terminal, and waits."""
    started = []

    def start(*arguments):
        terminal.type("pair\n")
        terminal.expect("within ten minutes: ")
        code = terminal.expect("\r\n").strip()
        process = place.start("approvers", "pair", *arguments)
        started.append(process)
        process.stdin.write(f"{code}\n")
        process.stdin.flush()
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_client_is_paired_at_the_terminal_of_the_server_listed_and_revoked(place, terminal, start_pairing):
    process = start_pairing("phone", "--scope", "chat")
    shown = terminal.expect_question()
    assert all(text in shown for text in ("phone", "a program", "asks for   chat"))
    terminal.decide("y everything")
    terminal.expect("one or more of approve, chat, tab")
    terminal.expect_question()
    terminal.decide("y approve chat")
    terminal.expect("Paired: it may approve, chat.")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out[:5]) == (0, "acap_"), err
    (known,) = place.run("approvers", "list", "--json").json["approvers"]
    assert (known["name"], known["scopes"]) == ("phone", ["approve", "chat"])
    assert "approve chat" in place.run("approvers", "list").out
    assert place.run("approvers", "revoke", "phone").code == 0
    again = place.run("approvers", "revoke", "phone")
    assert (again.code, "approver_not_found" in again.err) == (1, True)
    assert json.loads(place.run("approvers", "list", "--json").out) == {"approvers": []}


def test_client_that_the_person_refuses_gets_no_key(place, terminal, start_pairing):
    process = start_pairing("phone", "--scope", "approve")
    terminal.expect_question()
    terminal.type("n\n")
    terminal.expect("Refused.")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, "pairing_refused" in err) == (1, "", True)
    assert place.run("approvers", "list", "--json").json == {"approvers": []}


@pytest.mark.spec("K3")
def test_change_of_what_is_allowed_is_confirmed_at_the_terminal_of_the_server(place, terminal):
    """Asked for with the API token; shown whole, with what cannot be seen made visible."""
    address = json.loads((place.state / "server.json").read_text())["addresses"]["page"]
    headers = {
        "Authorization": f"Bearer {(place.state / 'token').read_text().strip()}",
        "Content-Type": "application/json",
    }

    def ask(method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(
                urllib.request.Request(address + path, data, headers, method=method), timeout=60
            ) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def change(value):
        digest = ask("GET", "/api/settings")["digest"]
        return ask(
            "PUT", "/api/settings", {"expected": digest, "changes": [{"path": "/approvals/mode", "value": value}]}
        )

    assert change("allow")["error"]["type"] == "confirmation_required"
    shown = terminal.expect_question()
    assert "/approvals/mode" in shown
    assert '"mode": "allow"' in shown
    terminal.type("n\n")
    terminal.expect("Refused.")
    assert "approvals" not in json.loads((place.folder / "app.json").read_text())
    change("ask_writes")
    terminal.expect_question()
    terminal.decide("y")
    terminal.expect("Applied.")
    assert json.loads((place.folder / "app.json").read_text())["approvals"] == {"mode": "ask_writes"}


def test_wrong_code_pairs_nobody(place, running_server):
    done = place.run("approvers", "pair", "phone", stdin="AAAAA-BBBBB\n")
    assert done.code == 1
    assert "invalid_code" in done.err


def test_without_a_server_it_says_so(place):
    assert place.run("approvers", "list").code == 3
