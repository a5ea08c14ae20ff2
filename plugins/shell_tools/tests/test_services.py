"""Background commands that listen on a port are resources, found by their sockets."""

import sys

import pytest

from agentcore.core.calls.call import CallRequest, ModelReader
from agentcore.testing.hosting import PERSON
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.spec("R2"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads sockets in /proc"),
]

LISTEN = """
import socket, sys

hosts = sys.argv[1:]
found = [socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) for host in hosts]
for each, host in zip(found, hosts):
    each.bind((host, 0))
    each.listen()
    print("port", each.getsockname()[1], flush=True)
sys.stdin.readline()
for each in found:
    each.close()
print("closed", flush=True)
sys.stdin.readline()
"""

EVERYWHERE = "0.0.0.0"


@pytest.fixture(autouse=True)
def script(root):
    """A program that listens on a free port of each address until it reads a line."""
    (root / "listen.py").write_text(LISTEN)


def listening(*hosts):
    return f"{sys.executable} listen.py {' '.join(hosts)}"


@pytest.fixture
def services(host):
    """The services of all sessions."""
    return lambda: host.host.resources.list(resource_type="service")


async def port_of(call, process_id):
    shown = await call("bash_output", process_id=process_id, block=True, filter="port")
    return int(shown.data["stdout"].split()[1])


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("127.0.0.5", "127.0.0.5"),
        ("::", "localhost"),
        ("::1", "[::1]"),
    ],
)
async def test_command_that_listens_is_a_service_beside_its_terminal(call, spawn, services, text, address, shown):
    process_id = await spawn(listening(address))
    port = await port_of(call, process_id)
    await wait_until(services)
    (service,) = services()
    assert service.resource_id == process_id.replace("terminal_", "service_")
    assert (service.status, service.last_url) == ("ready", f"http://{shown}:{port}/")
    result = await call("bash_output", process_id=process_id)
    assert result.data["services"] == [{"resource_id": service.resource_id, "url": service.last_url}]
    assert f"[it listens on {service.last_url}: {service.resource_id}]" in text(result)


async def test_result_names_the_address_also_before_the_next_look(call, spawn):
    process_id = await spawn(listening("127.0.0.1"))
    shown = await call("bash_output", process_id=process_id, block=True, filter="port")
    assert len(shown.data["services"]) == 1


async def test_descendant_that_listens_belongs_to_the_command(call, spawn, services):
    process_id = await spawn(
        f"bash -c 'setsid {listening('127.0.0.1').strip()} < /dev/zero & wait'".replace("'port'", '\\"port\\"')
    )
    await wait_until(services)
    await call("bash_kill", process_id=process_id)
    await wait_until(lambda: not services())


async def test_service_ends_when_nothing_listens_any_more_and_the_terminal_goes_on(call, spawn, services):
    process_id = await spawn(listening("127.0.0.1"))
    await port_of(call, process_id)
    await wait_until(services)
    shown = await call("bash", command="", process_id=process_id, keys=["enter"])
    await wait_until(lambda: not services())
    assert not shown.data["exited"]
    assert "services" not in (await call("bash_output", process_id=process_id)).data


async def test_each_port_is_a_service_and_all_end_with_the_command(call, spawn, services):
    process_id = await spawn(listening("127.0.0.1", "0.0.0.0", "::1"))
    await wait_until(lambda: len(services()) == 3)
    assert sorted(each.index for each in services()) == [0, 1, 2]
    await call("bash_kill", process_id=process_id)
    await wait_until(lambda: not services())


async def test_closing_a_service_ends_its_command(host, call, spawn, services):
    process_id = await spawn(listening("127.0.0.1"))
    await wait_until(services)
    await host.host.resources.release(services()[0].resource_id)
    assert (await call("bash_output", process_id=process_id)).data["exited"]
    assert not services()


async def test_closing_the_terminal_ends_the_service(host, spawn, services):
    process_id = await spawn(listening("127.0.0.1"))
    await wait_until(services)
    await host.host.resources.release(process_id)
    await wait_until(lambda: not services())


async def test_command_in_the_foreground_and_other_processes_are_no_service(call, services):
    await call("bash", command=f"timeout 1 {listening('127.0.0.1')} < /dev/null; true")
    assert not services()


async def test_model_is_told_the_short_id_of_the_service(host, call, spawn, services, text):
    process_id = await spawn(listening("127.0.0.1"))
    await wait_until(services)
    arguments = {"process_id": process_id}
    request = CallRequest("bash_output", arguments, PERSON, session_id=services()[0].session_id, reader=ModelReader())
    shown = (await host.host.run_call(request)).unwrap()
    assert f"[it listens on {services()[0].last_url}: service_0]" in text(shown)


@pytest.mark.usefixtures("needs_sandbox")
async def test_service_in_the_sandbox_without_network_says_why_it_is_out_of_reach_and_what_to_change(start, text):
    host = await start(network=False)
    process_id = (await host.call("bash", command=listening("127.0.0.1"), background=True)).data["process_id"]
    shown = await host.call("bash_output", process_id=process_id, block=True, filter="port")
    port = shown.data["stdout"].split()[1]
    (service,) = host.host.resources.list(resource_type="service")
    problem = (
        f"port {port} is open only in the command's sandbox, because the setting `network` of shell_tools is false"
    )
    assert (service.status, service.title) == ("failed", problem)
    url = f"http://127.0.0.1:{port}/"
    assert shown.data["services"] == [{"resource_id": service.resource_id, "url": url, "problem": problem}]
    assert f"[{service.resource_id} cannot be reached: {problem}. The same command can reach it" in text(shown)
    assert "a user can set `network` to true]" in text(shown)
    assert not host.host.resources.list_services(service.session_id)[0].is_reachable
    await host.call("bash_kill", process_id=process_id)
    await wait_until(lambda: not host.host.resources.list(resource_type="service"))
