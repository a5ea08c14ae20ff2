"""`agentcore serve`: what it says, and how it ends."""

import json
import socket
import stat
import urllib.error
import urllib.request
from urllib.parse import parse_qs

import pytest


@pytest.mark.spec("S1")
def test_without_a_terminal_it_logs_its_address_and_nothing_secret(place, start_server):
    server = start_server()
    token = (place.state / "token").read_text().strip()
    assert server.stop() == 0
    out, err = server.process.communicate()
    everything = out + err + str(server.log)
    assert out == ""
    assert server.address.startswith("http://127.0.0.1:")
    assert token not in everything
    assert "code=" not in everything


@pytest.mark.spec("S1")
def test_token_is_made_at_the_first_start_for_its_owner_only(place, running_server):
    assert stat.S_IMODE((place.state / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(place.state.stat().st_mode) == 0o700


@pytest.mark.spec("M1")
def test_it_starts_without_any_module_and_says_so(place, start_server):
    (place.folder / "app.json").unlink()
    server = start_server("--port", "0")
    assert any(line["event"] == "no_modules" for line in server.log)


def test_log_says_in_which_steps_the_start_of_a_module_went(place, start_server):
    server = start_server("--port", "0")
    (ready,) = (line for line in server.log if line["event"] == "module_ready")
    steps = [ready[name] for name in ("load_ms", "wait_ms", "init_ms", "tools_ms")]
    assert ready["module"] == "clock"
    assert 0 < sum(steps) <= ready["duration_ms"] + 1
    assert all(step >= 0 for step in steps)


@pytest.mark.spec("K4")
def test_its_end_takes_the_address_back(place, running_server):
    assert (place.state / "server.json").exists()
    assert running_server.stop() == 0
    assert not (place.state / "server.json").exists()


@pytest.mark.spec("S1")
def test_other_addresses_than_loopback_need_to_be_allowed(place):
    done = place.run("serve", "--host", "0.0.0.0")
    assert done.code == 2
    assert "--allow-remote" in done.err


def test_port_that_is_taken_is_an_error_that_says_what_to_do(place):
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = place.run("serve", "--port", str(other.getsockname()[1]))
    assert done.code == 2
    assert "port" in done.err


@pytest.mark.spec("S1")
def test_on_a_terminal_codes_for_browsers_and_clients_can_be_typed(on_terminal):
    terminal = on_terminal("serve")
    terminal.expect_server()
    terminal.type("code\n")
    terminal.expect("approval view  http://127.0.0.1:")
    terminal.expect("#code=")
    terminal.type("pair\n")
    terminal.expect("Type this into the client")
    terminal.type("\x03")
    assert terminal.end()[0] == 0


@pytest.mark.spec("S1")
def test_page_is_opened_in_a_browser_without_a_code_in_its_arguments(place, on_terminal, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "opened $1"\nstat -c "mode %a" "${1#file://}"\ncat "${1#file://}"\n')
    browser.chmod(0o755)
    place.environ["BROWSER"] = str(browser)
    terminal = on_terminal("serve", "--open")
    assert "code=" not in terminal.expect("opened file://").rpartition("opened")[2]
    assert "code=" not in terminal.expect("mode 600")
    terminal.expect("&amp;page=")
    terminal.type("\x03")
    assert terminal.end()[0] == 0
    assert not (place.state / "open.html").exists()


@pytest.mark.spec("S1")
def test_code_for_the_approval_view_is_written_for_its_owner_only_and_works_once(place, start_server, tmp_path):
    file = tmp_path / "code"
    server = start_server("--approver-code-file", str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    body = json.dumps({"code": file.read_text().strip()}).encode()
    request = urllib.request.Request(
        f"{server.log[-1]['approval_address']}/api/session", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        assert json.load(response)["session"]
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request, timeout=60)


def log_in(address):
    """Log in at an address that holds a code; gives the fragment."""
    base, _, fragment = address.partition("/#")
    body = json.dumps({"code": parse_qs(fragment)["code"][0]}).encode()
    request = urllib.request.Request(f"{base}/api/session", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        assert json.load(response)["session"]
    return base, parse_qs(fragment)


@pytest.mark.spec("S1")
def test_server_without_a_terminal_is_opened_for_approving_with_the_code_of_its_file_or_one_that_is_typed(
    place, start_server, tmp_path
):
    file = tmp_path / "code"
    server = start_server("--approver-code-file", str(file))
    code = file.read_text()
    approval, page = server.log[-1]["approval_address"], server.log[-1]["address"]
    opened = place.run("open", "--print", "--approver-code-file", str(file))
    base, fragment = log_in(opened.out.strip())
    assert base == approval
    log_in(f"{page}/#code={fragment['page'][0]}")  # the view goes on to the page
    assert not file.exists()
    typed = place.run("open", "--print", "--approve", stdin=f"{approval}/#code={code.strip()}&page=x\n")
    assert typed.out.strip().startswith(f"{approval}/#code={code.strip()}&page=")
    file.write_text("no code at all")
    refused = place.run("open", "--approver-code-file", str(file))
    assert (refused.code, file.exists()) == (2, True)
    assert "there is no log-in code in" in refused.err


@pytest.mark.spec("S1")
def test_code_for_the_approval_view_is_not_written_where_tools_read(place):
    done = place.run("serve", "--approver-code-file", "workspace/code")
    assert done.code == 2
    assert "where tools can read it" in done.err
