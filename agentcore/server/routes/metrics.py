"""Figures for whoever watches the server, in Prometheus' text format."""

import time
from collections.abc import Iterator, Mapping

from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute

_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


async def send_metrics(exchange: Exchange) -> Answer:
    """Send the figures."""
    return Answer("".join(_lines(exchange)).encode(), 200, _TEXT)


def _lines(exchange: Exchange) -> Iterator[str]:
    host, parts = exchange.host, exchange.parts
    figures = host.describe()
    yield from _family("calls_total", "counter", "Calls that ended, by outcome.", "outcome", figures["calls"])
    yield from _single("calls_in_flight", "gauge", "Calls on their way.", figures["calls_in_flight"])
    yield from _single("approvals_waiting", "gauge", "Calls that wait for a person.", figures["approvals_waiting"])
    yield from _single("resources", "gauge", "Living resources.", figures["resources"])
    yield from _single("tools", "gauge", "Tools that can be called.", figures["tools"])
    yield from _family("modules", "gauge", "Modules by state.", "state", figures["modules"])
    yield from _family(
        "loop_blocked_total", "counter", "Times the event loop was held, by module.", "module", figures["loop_blocked"]
    )
    yield from _family(
        "record_total", "counter", "Rows of the record of calls, by fate.", "fate", host.store.record.counts
    )
    yield from _family("artifacts_total", "counter", "Artifacts, by fate.", "fate", host.store.artifacts.counts)
    yield from _family("limit_hits_total", "counter", "Times a bound was hit.", "limit", parts.hits.counts)
    yield from _single("connections", "gauge", "Open connections.", parts.connections())
    yield from _single("event_readers", "gauge", "Open event streams.", parts.events.readers)
    yield from _single("uptime_seconds", "gauge", "Seconds since the start.", round(time.time() - host.started_at, 1))


def _single(name: str, kind: str, help_text: str, value: float) -> Iterator[str]:
    yield f"# HELP agentcore_{name} {help_text}\n# TYPE agentcore_{name} {kind}\nagentcore_{name} {value}\n"


def _family(name: str, kind: str, help_text: str, label: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP agentcore_{name} {help_text}\n# TYPE agentcore_{name} {kind}\n"
    for key, value in sorted(values.items()):
        yield f'agentcore_{name}{{{label}="{key.translate(_ESCAPES)}"}} {value}\n'


ROUTES = (ServerRoute("GET", "/api/metrics", send_metrics, "Figures in Prometheus' text format.", content_type=_TEXT),)
