"""Whether events are as `agentcore.core.event_types` declares them."""

from collections.abc import Collection

from agentcore.core.event_types import EVENT_TYPES, OWN_TOPICS, EventType
from agentcore.testing import EventLog

DECLARED = {event.name: event for event in EVENT_TYPES}


def fields_of(event: EventType) -> tuple[set[str], set[str] | None]:
    """The fields that are always there, and those that can be; None: any."""
    names = event.fields.split(", ") if event.fields else []
    always = {name for name in names if name[-1] not in "?…"}
    return always, None if "…" in names else {name.rstrip("?") for name in names}


def is_as_declared(name: str, fields: Collection[str]) -> bool:
    if name not in DECLARED:
        return False
    always, allowed = fields_of(DECLARED[name])
    return always <= set(fields) and (allowed is None or set(fields) <= allowed)


def undeclared(events: EventLog) -> list[str]:
    """The server's own events in a log that are not as declared, with their fields."""
    own = [event for event in events if event["type"].partition(".")[0] in OWN_TOPICS]
    envelope = {"id", "type", "time", "sessionId"}
    found = [(event["type"], sorted(event.keys() - envelope)) for event in own]
    return [f"{name}: {fields}" for name, fields in found if not is_as_declared(name, fields)]
