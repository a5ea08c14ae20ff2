"""The broker by itself: who is active, what is handed out when, and what becomes of answers."""

import asyncio

import pytest
from agentcore_ui_page.broker import CLIENTS, IDLE_SECONDS, QUEUE_COMMANDS, Answer, Broker, Command

from agentcore.api import ToolError

pytestmark = pytest.mark.spec("P1")

ALICE, BOB = "session_alice", "session_bob"


class Clock:
    """Seconds that a test lets go by."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broker(clock: Clock) -> Broker:
    return Broker(clock)


def ask(broker: Broker, *, script: str = "1", page_id: str | None = None) -> str:
    return broker.enqueue_to_active("eval_js", {"script": script}, 1000, page_id=page_id)


def said(result: object) -> dict[str, object]:
    return {"ok": True, "result": result}


async def error_type(waiting: object) -> str:
    with pytest.raises(ToolError) as caught:
        await waiting  # type: ignore[misc]
    return caught.value.type


async def test_command_goes_to_a_page_that_polls_and_its_answer_comes_back(broker: Broker) -> None:
    poll = asyncio.create_task(broker.next_command("page_one", ALICE, 30))
    await asyncio.sleep(0)
    command_id = ask(broker)
    command = await poll
    assert command is not None
    assert command.to_json() == {
        "commandId": command_id, "type": "eval_js", "args": {"script": "1"}, "timeoutMs": 1000,
    }  # fmt: skip
    assert broker.resolve_result("page_one", ALICE, command_id, said(2))
    assert await broker.await_result(command_id, 1) == Answer("ui_page_0", 2)


async def test_poll_ends_with_nothing_when_its_time_is_over(broker: Broker) -> None:
    assert await broker.next_command("page_one", ALICE, 0) is None


async def test_command_that_waits_is_given_to_the_next_poll_at_once(broker: Broker) -> None:
    broker.record_poll("page_one", ALICE)
    command_id = ask(broker)
    command = await broker.next_command("page_one", ALICE, 0)
    assert command is not None
    assert command.command_id == command_id


async def test_without_a_page_there_is_an_error(broker: Broker) -> None:
    with pytest.raises(ToolError) as caught:
        ask(broker)
    assert caught.value.type == "ui_client_not_connected"


async def test_page_that_polled_last_acts_until_it_is_silent_for_too_long(broker: Broker, clock: Clock) -> None:
    broker.record_poll("page_one", ALICE)
    broker.record_poll("page_two", BOB)
    assert broker.active == "ui_page_1"
    clock.now += IDLE_SECONDS - 1
    broker.record_poll("page_one", ALICE)
    assert broker.active == "ui_page_0"
    clock.now += 2
    broker.record_activity("page_one")
    assert [page["isThere"] for page in broker.list_pages()] == [True, False]
    clock.now += IDLE_SECONDS + 1
    assert broker.active is None


async def test_page_that_is_named_acts_and_one_that_left_is_an_error(broker: Broker) -> None:
    taken: list[Command] = []
    broker.connect_page("page_one", ALICE, taken.append)
    broker.record_poll("page_two", BOB)
    ask(broker, page_id="ui_page_0")
    assert len(taken) == 1
    broker.disconnect_page("page_one", taken.append)


async def test_page_has_one_command_at_a_time(broker: Broker) -> None:
    taken: list[Command] = []
    broker.connect_page("page_one", ALICE, taken.append)
    first, second = ask(broker), ask(broker)
    assert [command.command_id for command in taken] == [first]
    broker.resolve_result("page_one", ALICE, first, said(None))
    assert [command.command_id for command in taken] == [first, second]


async def test_closing_a_socket_hands_over_and_ends_what_the_page_held(broker: Broker) -> None:
    taken: list[Command] = []
    deliver = taken.append
    broker.record_poll("page_one", ALICE)
    broker.connect_page("page_two", BOB, deliver)
    running, queued = ask(broker), ask(broker)
    broker.disconnect_page("page_two", deliver)
    assert broker.active == "ui_page_0"
    for command_id in (running, queued):
        assert await error_type(broker.await_result(command_id, 1)) == "ui_client_not_connected"


async def test_page_that_polls_while_it_holds_a_command_has_lost_it(broker: Broker) -> None:
    broker.record_poll("page_one", ALICE)
    lost = ask(broker)
    await broker.next_command("page_one", ALICE, 0)
    await broker.next_command("page_one", ALICE, 0)
    assert await error_type(broker.await_result(lost, 1)) == "ui_client_not_connected"
    assert not broker.resolve_result("page_one", ALICE, lost, said(1))


async def test_late_second_and_unknown_results_are_dropped_and_counted(broker: Broker) -> None:
    taken: list[Command] = []
    broker.connect_page("page_one", ALICE, taken.append)
    late = ask(broker)
    assert await error_type(broker.await_result(late, 0)) == "ui_timeout"
    assert not broker.resolve_result("page_one", ALICE, late, said(1))
    twice = ask(broker)
    assert broker.resolve_result("page_one", ALICE, twice, said(1))
    assert not broker.resolve_result("page_one", ALICE, twice, said(2))
    assert (await broker.await_result(twice, 1)).result == 1
    assert not broker.resolve_result("page_one", ALICE, "cmd_never", said(1))
    assert not broker.resolve_result("page_never", ALICE, "cmd_never", said(1))
    assert broker.counts == {"abandoned": 1, "late": 3, "unknown": 1}


async def test_id_belongs_to_the_session_that_made_it(broker: Broker) -> None:
    taken: list[Command] = []
    broker.connect_page("page_one", ALICE, taken.append)
    command_id = ask(broker)
    broker.record_poll("page_two", BOB)
    for refused in (
        lambda: broker.record_poll("page_one", BOB),
        lambda: broker.resolve_result("page_one", BOB, command_id, said(1)),
        lambda: broker.resolve_result("page_two", BOB, command_id, said(1)),
    ):
        with pytest.raises(ToolError) as caught:
            refused()
        assert caught.value.type == "forbidden"
    assert broker.resolve_result("page_one", ALICE, command_id, said(2))
    assert broker.counts["foreign"] == 3


async def test_ten_thousand_commands_are_bounded(broker: Broker) -> None:
    broker.record_poll("page_one", ALICE)
    for _ in range(QUEUE_COMMANDS):
        ask(broker)
    for _ in range(10_000 - QUEUE_COMMANDS):
        with pytest.raises(ToolError, match="wait for the page already") as caught:
            ask(broker)
        assert caught.value.type == "ui_queue_full"
    assert broker.counts["queue_full"] == 10_000 - QUEUE_COMMANDS


async def test_pages_are_bounded_too(broker: Broker, clock: Clock) -> None:
    for number in range(CLIENTS + 10):
        clock.now += 0.01
        broker.record_poll(f"page_{number}", ALICE)
    assert len(broker.list_pages()) == CLIENTS
    assert broker.active == f"ui_page_{CLIENTS + 9}"


async def test_call_that_is_cancelled_takes_its_command_back(broker: Broker) -> None:
    broker.record_poll("page_one", ALICE)
    waiting = asyncio.create_task(broker.await_result(ask(broker), 30))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert await broker.next_command("page_one", ALICE, 0) is None


async def test_end_of_the_module_ends_what_waits(broker: Broker) -> None:
    broker.record_poll("page_one", ALICE)
    command_id = ask(broker)
    broker.close()
    assert await error_type(broker.await_result(command_id, 1)) == "ui_client_not_connected"
    assert broker.active is None
