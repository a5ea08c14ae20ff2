"""How long a server that ended is left alone."""

from agentcore_mcp_servers.server import Pauses


def test_a_server_that_ran_for_long_and_does_not_start_any_more_is_tried_ever_less_often():
    pauses = Pauses()
    longest_s = (0.5, 1, 2, 4, 8, 16, 32, 60, 60)
    for index, bound in enumerate(longest_s):
        assert bound / 2 <= pauses.next_pause_s(3600 if index == 0 else 0) <= bound


def test_a_server_that_ends_at_once_each_time_is_tried_ever_less_often_until_one_run_lasts():
    pauses = Pauses()
    for bound in (1, 2, 4):
        assert bound / 2 <= pauses.next_pause_s(0.1) <= bound
    assert pauses.next_pause_s(61) <= 0.5
