"""How many messages to the browser an action takes: each is a wait, however fast the machine is."""

import json
from contextlib import contextmanager

import pytest
from playwright._impl.transport import PipeTransport

FIND = ["queryCount", "queryCount", "textContent"]
"""All matches and those that can be seen are counted at once; then everything about the one is read in one go."""


@contextmanager
def messages(monkeypatch):
    """The methods of the messages to the browser's driver that the action consists of."""
    sent = []
    send = PipeTransport.send

    def note(self, message):
        sent.append(message["method"])
        send(self, message)

    with monkeypatch.context() as patched:
        patched.setattr(PipeTransport, "send", note)
        yield sent


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("browser_click", {"selector": "button"}, [*FIND, "click"]),
        ("browser_fill_form", {"fields": [{"selector": "input", "value": "Ada"}]}, [*FIND, "fill", "textContent"]),
    ],
)
async def test_action_is_decided_carried_out_and_verified(act, site, monkeypatch, tool, arguments, expected):
    await act("browser_navigate", url=site.url("/"))
    script = "document.body.innerHTML = " + json.dumps("<button>Go</button><input aria-label=Name>")
    await act("browser_evaluate", script=script)
    await act(tool, **arguments)
    with messages(monkeypatch) as sent:
        await act(tool, **arguments)
    assert [method for method in sent if method != "send"] == expected
