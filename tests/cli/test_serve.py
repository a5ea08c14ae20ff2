"""`agentcore serve`: what it says, and how it ends."""

import socket
import stat

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
def test_token_is_made_at_the_first_start_for_its_owner_only(place, server):
    assert stat.S_IMODE((place.state / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(place.state.stat().st_mode) == 0o700


@pytest.mark.spec("M1")
def test_it_starts_without_any_module_and_says_so(place, start_server):
    (place.folder / "app.json").unlink()
    server = start_server("--port", "0")
    assert any(line["event"] == "no_modules" for line in server.log)


@pytest.mark.spec("K4")
def test_its_end_takes_the_address_back(place, server):
    assert (place.state / "server.json").exists()
    assert server.stop() == 0
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
def test_on_a_terminal_it_prints_an_address_with_a_code(on_terminal):
    terminal = on_terminal("serve")
    terminal.expect("#code=")
    terminal.expect("server_ready")
    terminal.type("\x03")
    assert terminal.end()[0] == 0


def test_page_is_opened_in_a_browser(place, on_terminal, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "opened $1"\n')
    browser.chmod(0o755)
    place.environ["BROWSER"] = str(browser)
    terminal = on_terminal("serve", "--open")
    terminal.expect("opened http://127.0.0.1:")
    terminal.expect("/#code=")
    terminal.type("\x03")
    assert terminal.end()[0] == 0
