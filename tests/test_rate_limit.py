"""How often something happens that others cause as often as they like."""

from agentcore.rate_limit import Pace


def test_some_turns_come_at_once_and_the_others_one_by_one() -> None:
    pace = Pace(3, 10)
    assert [pace.delay_s(100) for _ in range(5)] == [0, 0, 0, 10, 20]


def test_turns_are_saved_up_to_the_burst() -> None:
    pace = Pace(2, 10)
    assert [pace.delay_s(0) for _ in range(3)] == [0, 0, 10]
    assert [pace.delay_s(1_000) for _ in range(3)] == [0, 0, 10]


def test_rare_turns_never_wait() -> None:
    pace = Pace(1, 10)
    assert [pace.delay_s(now) for now in range(0, 100, 10)] == [0] * 10
