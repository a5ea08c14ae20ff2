"""The route for metrics, in Prometheus' text format."""

import time
from collections.abc import Iterator, Mapping

from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute

_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


async def send_metrics(exchange: Exchange) -> Answer:
    """Send the metrics."""
    return Answer("".join(_format_metrics(exchange)).encode(), 200, _TEXT)


def _format_metrics(exchange: Exchange) -> Iterator[str]:
    core = exchange.core
    parts = exchange.parts
    figures = core.collect_metrics()
    yield from _format_labelled_metric(
        "calls_total", "counter", "Calls that ended, by outcome.", "outcome", figures["calls"]
    )
    yield from _format_metric("calls_in_flight", "gauge", "Calls on their way.", figures["calls_in_flight"])
    yield from _format_metric(
        "approvals_waiting", "gauge", "Calls that wait for a person.", figures["approvals_waiting"]
    )
    yield from _format_metric("resources", "gauge", "Living resources.", figures["resources"])
    yield from _format_metric("tools", "gauge", "Tools that can be called.", figures["tools"])
    yield from _format_labelled_metric("modules", "gauge", "Modules by state.", "state", figures["modules"])
    yield from _format_labelled_metric(
        "loop_blocked_total", "counter", "Times the event loop was held, by module.", "module", figures["loop_blocked"]
    )
    yield from _format_labelled_metric(
        "record_total", "counter", "Rows of the record of calls, by fate.", "fate", core.store.record.counts
    )
    yield from _format_labelled_metric(
        "artifacts_total", "counter", "Artifacts, by fate.", "fate", core.store.artifacts.counts
    )
    yield from _format_labelled_metric(
        "limit_hits_total", "counter", "Times a bound was hit.", "limit", parts.hits.counts
    )
    yield from _format_metric("connections", "gauge", "Open connections.", parts.connections())
    yield from _format_metric("event_readers", "gauge", "Open event streams.", parts.events.reader_count)
    yield from _format_metric(
        "uptime_seconds", "gauge", "Seconds since the start.", round(time.time() - core.started_at, 1)
    )


def _format_metric(name: str, kind: str, help_text: str, value: float) -> Iterator[str]:
    yield f"# HELP agentcore_{name} {help_text}\n# TYPE agentcore_{name} {kind}\nagentcore_{name} {value}\n"


def _format_labelled_metric(
    name: str, kind: str, help_text: str, label: str, values: Mapping[str, float]
) -> Iterator[str]:
    yield f"# HELP agentcore_{name} {help_text}\n# TYPE agentcore_{name} {kind}\n"
    for key, value in sorted(values.items()):
        yield f'agentcore_{name}{{{label}="{key.translate(_ESCAPES)}"}} {value}\n'


ROUTES = (ServerRoute("GET", "/api/metrics", send_metrics, "Figures in Prometheus' text format.", content_type=_TEXT),)
