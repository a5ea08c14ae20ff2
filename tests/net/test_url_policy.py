"""The policy for addresses of the web: every spelling of a place that tools must not reach is refused."""

import ipaddress
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore.api import Module, Runtime, ToolError, UrlPolicy, tool

OWN = ("http://127.0.0.1:8765", "http://localhost:8765", "https://agent.example.com")


def reason(policy: UrlPolicy, url: str) -> str:
    with pytest.raises(ToolError) as caught:
        policy.check(url)
    assert caught.value.type == "url_blocked"
    assert caught.value.context["url"] == url or url.startswith("blob:")
    return str(caught.value.context["reason"])


def spellings_of(number: int) -> list[str]:
    """One IPv4 address as browsers take it: decimal, octal, hexadecimal, short, wide digits, percent-encoded."""
    a, b, c, d = number.to_bytes(4)
    dotted = f"{a}.{b}.{c}.{d}"
    return [
        dotted,
        f"{dotted}.",
        str(number),
        hex(number),
        f"0{number:o}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"0x{a:X}.{b}.0{c:o}.{d}",
        f"{a}.{number & 0xFFFFFF}",
        f"{a}.{b}.{number & 0xFFFF}",
        dotted.translate({ord("0") + digit: 0xFF10 + digit for digit in range(10)}),
        dotted.replace(".", "。"),
        "".join(f"%{ord(character):02x}" for character in dotted),
    ]


def wrapped(number: int) -> list[str]:
    """One IPv4 address inside of IPv6: mapped, compatible, 6to4, NAT64, Teredo, ISATAP."""
    high, low = number >> 16, number & 0xFFFF
    return [
        f"[::ffff:{high:x}:{low:x}]",
        f"[::ffff:{ipaddress.IPv4Address(number)}]",
        f"[::{high:x}:{low:x}]",
        f"[2002:{high:x}:{low:x}::1]",
        f"[64:ff9b::{high:x}:{low:x}]",
        f"[2001:0:c000:201::{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}]",
        f"[2a00::5efe:{high:x}:{low:x}]",
    ]


private_networks = st.sampled_from(
    ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"]
)
private_numbers = private_networks.map(ipaddress.IPv4Network).flatmap(
    lambda network: st.integers(int(network[0]), int(network[-1]))
)


@pytest.mark.spec("S6")
@settings(max_examples=60)
@given(private_numbers, st.sampled_from(["http", "https"]), st.sampled_from(["", ":80", ":8443"]))
def test_no_spelling_of_a_private_address_is_opened(number: int, scheme: str, port: str) -> None:
    policy = UrlPolicy()
    for host in (*spellings_of(number), *wrapped(number)):
        assert reason(policy, f"{scheme}://{host}{port}/path") in ("private_address", "metadata_address", "invalid"), (
            host
        )


@pytest.mark.spec("S6")
@settings(max_examples=60)
@given(st.sampled_from([1, 8, 93, 151, 223]), st.integers(0, 2**24 - 1))
def test_public_addresses_are_opened_in_their_one_spelling(first: int, rest: int) -> None:
    number = first << 24 | rest
    for host in spellings_of(number):
        assert UrlPolicy().check(f"http://{host}/") == f"http://{ipaddress.IPv4Address(number)}/"


@pytest.mark.spec("S6")
@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST", "localhost.", "a.localhost", "ｌｏｃａｌｈｏｓｔ", "%6Cocalhost", "printer.local",
        "vault.internal", "nas.home.arpa", "router.lan", "[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[fd12::1]",
        "[ff02::1]", "[64:ff9b:1::1]", "[100::1]", "[2001:db8::1]", "0", "127.1", "0x7f.1", "017700000001",
        "127.0.0.1..", "[::ffff:0:7f00:1]",
    ],
)  # fmt: skip
def test_names_and_networks_of_this_machine_are_refused(host: str) -> None:
    assert reason(UrlPolicy(), f"http://{host}/") in ("private_address", "invalid")


@pytest.mark.spec("S6")
@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/", "http://0xa9fea9fe/", "http://[::ffff:a9fe:a9fe]/", "http://[fd00:ec2::254]/",
        "http://metadata.google.internal/", "http://METADATA.google.internal./", "http://100.100.100.200/", "http://168.63.129.16/",
    ],
)  # fmt: skip
def test_metadata_services_stay_refused_where_private_networks_are_allowed(url: str) -> None:
    assert reason(UrlPolicy(allow_private=True), url) == "metadata_address"


@pytest.mark.spec("S6", "S2")
@settings(max_examples=40)
@given(st.integers(127 << 24, (128 << 24) - 1) | st.just(0), st.sampled_from(["http", "https", "ws"]))
def test_own_origins_are_refused_in_every_spelling_also_with_private_allowed(number: int, scheme: str) -> None:
    policy = UrlPolicy(allow_private=True, schemes=frozenset(("http", "https", "ws")), own_origins=lambda: OWN)
    for host in (*spellings_of(number), *wrapped(number)[:5], "[::1]", "[::]", "localhost", "x.LocalHost."):
        assert reason(policy, f"{scheme}://{host}:8765/x") in ("own_address", "invalid"), host
    assert policy.check(f"http://127.0.0.1:8766/#{number}")


@pytest.mark.spec("S2")
def test_own_origin_behind_a_proxy_is_refused_by_its_name() -> None:
    policy = UrlPolicy(own_origins=lambda: OWN)
    for url in ("https://agent.example.com/", "https://AGENT.example.com.:443/", "http://agent.example.com:443/"):
        assert reason(policy, url) == "own_address"
    assert policy.check("https://agent.example.com:444/")


@pytest.mark.spec("S2")
def test_address_of_this_machine_with_an_own_port_is_refused_when_it_is_dialled() -> None:
    policy = UrlPolicy(allow_private=True, own_origins=lambda: OWN)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        here = probe.getsockname()[0]
    for address in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", here):
        with pytest.raises(ToolError) as caught:
            policy.check_address("rebound.example", address, 8765)
        assert caught.value.context["reason"] == "own_address"
        policy.check_address("rebound.example", address, 8766)


@pytest.mark.spec("S6")
@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "::1", "fe80::1%eth0", "::ffff:192.168.0.1", "nonsense"])
def test_dialled_address_counts_whatever_the_name_was(address: str) -> None:
    with pytest.raises(ToolError, match=r"good\.example") as caught:
        UrlPolicy().check_address("good.example", address, 443)
    assert caught.value.type == "url_blocked"


@pytest.mark.spec("S6")
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("file:///etc/passwd", "scheme"),
        ("FILE:/etc/passwd", "scheme"),
        ("view-source:https://example.com", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/html,x", "scheme"),
        ("about:blank", "scheme"),
        ("https://user:secret@example.com/", "credentials"),
        ("https://example.com@127.0.0.1/", "credentials"),
        ("example.com", "invalid"),
        ("", "invalid"),
        ("http://", "invalid"),
        ("http://a..b/", "invalid"),
        ("http://[fe80::1%25eth0]/", "invalid"),
        ("http://1.2.3.4.5/", "invalid"),
        ("https://example.com/" + "a" * 20_000, "invalid"),
    ],
)
def test_what_is_no_plain_address_of_the_web_is_refused_with_its_reason(url: str, expected: str) -> None:
    with pytest.raises(ToolError) as caught:
        UrlPolicy().check(url)
    assert (caught.value.type, caught.value.context["reason"]) == ("url_blocked", expected)
    assert len(caught.value.message) < 500


def test_address_is_given_back_as_a_browser_writes_it() -> None:
    assert UrlPolicy().check(" hTTps:\\\\EXÄMPLE.com:443\\a b\n") == "https://xn--exmple-cua.com/a%20b"


def test_blank_page_and_blobs_are_judged_by_what_they_are() -> None:
    policy = UrlPolicy(schemes=frozenset(("http", "https", "about", "blob")))
    assert policy.check("about:blank") == "about:blank"
    assert policy.check("blob:https://example.com/1-2")
    assert reason(policy, "about:config") == "scheme"
    assert reason(policy, "blob:http://127.0.0.1/1-2") == "private_address"


def test_lists_of_hosts_open_and_close_names_networks_and_ports() -> None:
    policy = UrlPolicy(
        allowed_hosts=["example.com", "*.wiki.example", "192.0.3.0/24", "bücher.example:8443"],
        blocked_hosts=["ads.example.com", "192.0.3.7"],
    )
    for url in ("http://example.com", "http://a.b.EXAMPLE.com.", "http://en.wiki.example", "http://192.0.3.1",
                "https://xn--bcher-kva.example:8443"):  # fmt: skip
        assert policy.check(url)
    for url in ("http://ads.example.com", "http://x.ads.example.com", "http://192.0.3.7", "http://[::ffff:192.0.3.7]"):
        assert reason(policy, url) == "blocked_host"
    for url in ("http://wiki.example", "http://notexample.com", "http://192.0.4.1", "https://bücher.example"):
        assert reason(policy, url) == "not_allowed"
    with pytest.raises(ToolError):
        policy.check_address("sneaky.example", "192.0.3.7", 80)


@pytest.mark.parametrize(
    "pattern", ["", "*", "http://a.example", "a.example/x", "a@b.example", "a b", "300.1.1.1", "a%2e.example"]
)
def test_list_that_names_no_host_is_an_error_that_shows_it(pattern: str) -> None:
    with pytest.raises(ValueError, match="names no host"):
        UrlPolicy(blocked_hosts=[pattern])


async def test_name_is_looked_up_and_every_address_checked() -> None:
    assert "127.0.0.1" in await UrlPolicy(allow_private=True).resolve("http://localhost:1/")
    assert await UrlPolicy().resolve("https://192.0.3.1/") == ["192.0.3.1"]
    assert await UrlPolicy(schemes=frozenset(("about",))).resolve("about:blank") == []


async def test_name_that_nobody_knows_is_said_so() -> None:
    with pytest.raises(ToolError) as caught:
        await UrlPolicy().resolve("http://no-such-host.invalid/")
    assert caught.value.type == "host_not_found"


class Opener(Module):
    """Checks addresses."""

    def init(self, runtime: Runtime) -> None:
        self._policy = runtime.url_policy(allow_private=True)

    @tool(read_only=True)
    def opener_check(self, url: str) -> str:
        """Check an address.

        Args:
            url: Any.
        """
        return self._policy.check(url)


@pytest.mark.spec("S2")
async def test_module_is_refused_the_server_that_it_runs_in(agentcore_client) -> None:
    client = await agentcore_client(modules=[Opener])
    port = client.server.port

    async def envelope(url: str) -> dict:
        answer = await client.post("/api/tools/opener_check/call", json={"arguments": {"url": url}})
        return await answer.json()

    for host in ("127.0.0.1", "localhost", "[::1]", "2130706433", "[::ffff:127.0.0.1]"):
        body = await envelope(f"http://{host}:{port}/")
        assert body["error"]["context"]["reason"] == "own_address"
    assert (await envelope(f"http://127.0.0.1:{port + 1}/"))["ok"]


def test_refusal_of_an_address_masks_the_secrets_in_it() -> None:
    for secret in ("user:hunter2@169.254.169.254/x", "169.254.169.254/mcp?tavilyApiKey=hunter2"):
        with pytest.raises(ToolError) as caught:
            UrlPolicy().check(f"http://{secret}")
        assert "hunter2" not in caught.value.message
        assert "hunter2" not in str(caught.value.context)
        assert "169.254.169.254" in caught.value.message
