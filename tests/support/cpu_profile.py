"""Processor time of tests by phase, folder, file, fixture and test, with the processes that they start.

Run with `make test ARGS='-p tests.support.cpu_profile'`; the report comes last. Processor time says what a test costs
also where the machine is busy, which its duration does not. The time of a process whose parent died before is lost.
"""

import os
import resource
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_TICKS = os.sysconf("SC_CLK_TCK")
_SHOWN = 25
_KEY = "cpu_profile"


def cpu_seconds() -> float:
    """User and system time of this process, of its ended children, and of all that descends from it and still runs."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    return total + sum(map(_ticks_of, _descendants("self"))) / _TICKS


def _descendants(pid: str) -> Iterator[str]:
    try:
        threads = list(Path("/proc", pid, "task").iterdir())
    except OSError:
        return
    for thread in threads:
        try:
            children = (thread / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield child
            yield from _descendants(child)


def _ticks_of(pid: str) -> int:
    try:
        fields = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


class CpuProfile:
    """Adds up seconds by phase, folder, file, fixture and test; workers hand theirs to the main process."""

    def __init__(self) -> None:
        kinds = ("phase", "folder", "file", "fixture", "test")
        self.seconds: dict[str, Counter[str]] = {name: Counter() for name in kinds}

    def add(self, kind: str, name: str, seconds: float) -> None:
        """Add the time of something."""
        self.seconds[kind][name] += seconds

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Measure a fixture, with the fixtures that it requests itself."""
        began = cpu_seconds()
        try:
            return (yield)
        finally:
            self.add("fixture", fixturedef.argname, cpu_seconds() - began)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Measure the set-up of a test."""
        return (yield from self._measure("setup", item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test itself."""
        return (yield from self._measure("call", item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Measure the tear-down of a test."""
        return (yield from self._measure("teardown", item))

    def _measure(self, phase: str, item: pytest.Item) -> Iterator[None]:
        began = cpu_seconds()
        try:
            return (yield)
        finally:
            seconds = cpu_seconds() - began
            file = item.nodeid.partition("::")[0]
            self.add("phase", phase, seconds)
            self.add("file", file, seconds)
            self.add("test", item.nodeid.partition("[")[0], seconds)
            self.add("folder", "/".join(file.split("/")[: 3 if file.startswith("plugins/") else 2]), seconds)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the times of a worker to the main process."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = {kind: dict(counter) for kind, counter in self.seconds.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the times of a worker."""
        for kind, found in getattr(node, "workeroutput", {}).get(_KEY, {}).items():
            self.seconds[kind].update(found)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the report."""
        total = sum(self.seconds["phase"].values())
        terminalreporter.write_line(f"\nProcessor time of the tests: {total:.0f} s")
        for kind, counter in self.seconds.items():
            terminalreporter.write_line(f"by {kind}:")
            for name, seconds in counter.most_common(_SHOWN):
                terminalreporter.write_line(f"{seconds:8.1f}  {name}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuProfile(), _KEY)
