"""Clocks that jump, of either machine, forwards and back: what is connected stays so, and nothing ends for that."""

from pathlib import Path

import pytest

from tests.hosts.network.linked import linked, text_of
from tests.support.waiting import wait_until

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)

pytestmark = [
    pytest.mark.spec("H3"),
    pytest.mark.more,
    pytest.mark.skipif(LIBRARY is None, reason="no libfaketime here"),
]


@pytest.mark.parametrize("machine", ["near", "far"])
async def test_clock_that_jumps_ends_no_connection_no_call_and_no_resource(tmp_path, machine):
    """A day on, two days back, and right again, each time with a call on its way and a link that is cut."""
    clock = tmp_path / "clock"
    clock.write_text("+0d\n")
    faked = {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",
        # as the kernel does it: how long something takes is no matter of the date
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    environs = ({}, faked) if machine == "far" else (faked, {})
    async with linked(tmp_path, environs=environs) as both:
        box = text_of(await both.server.call("fill", folder=str(both.work)))
        for number, offset in enumerate(("+1d", "-1d", "+0d")):
            calling = both.working(number)
            await both.begun(number)
            connections = len(both.relay.peers)
            clock.write_text(f"{offset}\n")
            passed = both.relay.back.passed
            # two pings later
            await wait_until(lambda passed=passed: both.relay.back.passed > passed + 40)
            assert len(both.relay.peers) == connections
            await both.relay.cut()
            await both.relay.connected(connections + 1)
            both.let_end_of(number)
            assert (await calling)["data"] == {"number": number}
            await both.server.host_is("laptop", "running")
        assert text_of(await both.server.call("fill", folder=str(both.work), resource_id=box)) == box
        runs = both.runs()
    assert {line: runs[line] for line in runs if line.isdigit()} == {"0": 1, "1": 1, "2": 1}
