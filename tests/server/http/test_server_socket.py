"""Where the server may listen: loopback; anything else only when it is said, and with a proxy that is named."""

import socket

import pytest

from agentcore.server.addresses import Addresses
from agentcore.server.http.server_socket import ListenError, open_listener, own_name


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    "host", ["0.0.0.0", "0", "0x0", "000.0.0.0", "0.0", "::", "[::]", "::0", "0:0::0", "::ffff:0.0.0.0", "", "10.0.0.1"]
)
def test_address_that_others_reach_needs_to_be_allowed(host):
    with pytest.raises(ListenError, match="--allow-remote"):
        open_listener(host, 0)


@pytest.mark.spec("S1")
def test_allowed_address_needs_a_named_proxy():
    with pytest.raises(ListenError, match="TLS"):
        open_listener("0.0.0.0", 0, allow_remote=True)
    open_listener("0.0.0.0", 0, allow_remote=True, declared_hosts=["agent.example.com"]).close()


@pytest.mark.parametrize(
    ("host", "name"), [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("127.0.0.2", "127.0.0.2")]
)
def test_loopback_is_bound_and_spelled(host, name):
    with open_listener(host, 0) as listener:
        assert own_name(listener) == name
        assert listener.getsockname()[1] > 0


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_ipv6_loopback_is_spelled_in_brackets():
    with open_listener("::1", 0) as listener:
        assert own_name(listener) == "[::1]"


def test_taken_port_is_said_with_what_to_do():
    with open_listener("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(ListenError, match=f"127.0.0.1:{port} is taken by another program.*--port"):
            open_listener("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "127.0.0.1.5", "a b", "\ud800"])
def test_what_is_no_address_is_said(host):
    with pytest.raises(ListenError, match="no address of this machine"):
        open_listener(host, 0)


@pytest.mark.spec("S1")
def test_origins_follow_from_hosts():
    addresses = Addresses(8765, ("Agent.example.com", "127.0.0.1:9000", "[::1]:9001"))
    assert addresses.allowed == {
        "127.0.0.1:8765",
        "localhost:8765",
        "agent.example.com",
        "127.0.0.1:9000",
        "[::1]:9001",
    }
    assert addresses.origins == {
        "http://127.0.0.1:8765",
        "http://localhost:8765",
        "https://agent.example.com",
        "http://127.0.0.1:9000",
        "http://[::1]:9001",
    }
    assert "agent.example.com" not in addresses.plain
