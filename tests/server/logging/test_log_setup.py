"""Log lines: JSON for programs, a console format for people, secrets for nobody."""

import io
import json
import logging
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest
import structlog

from agentcore.secrets import MASK, register_masked_values
from agentcore.server.logging.log_setup import configure_logging, log_to_file_only, log_to_state_folder


@pytest.fixture
def configured():
    """Logging set up by the test, and taken back after it."""
    root, level = logging.getLogger(), logging.getLogger().level
    handlers = list(root.handlers)
    showwarning = warnings.showwarning

    def configure(**options) -> io.StringIO:
        stream = io.StringIO()
        configure_logging(stream, **options)
        return stream

    yield configure
    structlog.reset_defaults()
    logging.captureWarnings(False)
    warnings.showwarning = showwarning
    root.handlers, root.level = handlers, level


@pytest.mark.spec("M8")
def test_line_is_json_with_time_level_and_event_first(configured):
    stream = configured()
    structlog.get_logger("a").info("call_finished", call_id="c1", duration_ms=1.5)
    line = json.loads(stream.getvalue())
    assert list(line) == ["time", "level", "event", "call_id", "duration_ms"]
    assert (line["level"], line["event"], line["duration_ms"]) == ("info", "call_finished", 1.5)


@pytest.mark.spec("M8")
@pytest.mark.parametrize(
    "key",
    [
        *("token", "api_key", "Authorization", "cookie", "cookies", "client_secret", "password", "code", "api-token"),
        *("passwd", "private_key", "accessToken"),
    ],
)
@pytest.mark.parametrize("is_terminal", [True, False])
def test_value_under_a_secret_name_is_masked(configured, key, is_terminal):
    stream = configured(is_terminal=is_terminal)
    structlog.get_logger("b").warning("shown", **{key: "hunter2", "status_code": 3})
    assert "hunter2" not in stream.getvalue()
    assert "3" in stream.getvalue()


SHOWN_AS = {
    "an exception": ValueError,
    "a tuple": lambda secret: (1, secret),
    "a set": lambda secret: {secret},
    "bytes": lambda secret: f"x {secret}".encode(),
    "a key": lambda secret: {secret: 1},
    "bytes in a key in a list": lambda secret: [{secret.encode(): 1}],
    "an object": lambda secret: SimpleNamespace(at=secret),
    "an exception in a tuple": lambda secret: (OSError(2, secret),),
    "a named part": lambda secret: {"server": ({"password": "short", "at": secret},)},
}


@pytest.mark.parametrize("shape", SHOWN_AS)
@pytest.mark.parametrize("is_terminal", [True, False])
def test_secret_in_use_is_masked_in_values_of_each_type(configured, shape, is_terminal, tmp_path):
    stream = configured(is_terminal=is_terminal)
    secret = "s3cret-of-a-module"
    forget = register_masked_values([secret])
    with log_to_state_folder(tmp_path):
        structlog.get_logger("c").warning("shown", value=SHOWN_AS[shape](secret), plain=(1, "plain-part"))
    forget()
    kept = "".join(file.read_text() for file in tmp_path.rglob("*") if file.is_file())
    for text in (stream.getvalue(), kept):
        assert "plain-part" in text
        assert MASK in text or json.dumps(MASK)[1:-1] in text or repr(MASK.encode())[2:-1] in text
        assert secret not in text
        assert "short" not in text


def test_object_that_cannot_be_described_loses_no_line(configured):
    class Broken:
        def __repr__(self):
            raise RuntimeError("no")

    stream = configured()
    forget = register_masked_values(["s3cret-of-a-module"])
    structlog.get_logger("d").warning("shown", value=Broken())
    forget()
    assert "Broken" in stream.getvalue()


def test_bound_values_and_tracebacks_are_in_the_line(configured):
    stream = configured()
    with structlog.contextvars.bound_contextvars(call_id="c1"):
        try:
            raise ValueError("why")
        except ValueError:
            structlog.get_logger("c").exception("failed")
    line = json.loads(stream.getvalue())
    assert (line["call_id"], line["level"]) == ("c1", "error")
    assert "ValueError: why" in line["exception"]


def test_lines_of_other_packages_and_warnings_come_along(configured):
    stream = configured()
    logging.getLogger("some.package").warning("disk %s", "full")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line["logger"]) for line in lines] == [("disk full", "some.package")]


@pytest.mark.parametrize("value", ["\ud800", object(), float("nan"), b"\xff", {"a": {1}}])
def test_any_value_makes_a_line(configured, value):
    stream = configured()
    structlog.get_logger("d").info("odd", value=value)
    assert json.loads(stream.getvalue())["event"] == "odd"


def test_level_is_kept(configured):
    stream = configured(level="warning")
    structlog.get_logger("e").info("quiet")
    structlog.get_logger("e").warning("loud")
    assert json.loads(stream.getvalue())["event"] == "loud"


def test_log_that_nobody_reads_ends_nothing():
    code = (
        "import os, structlog; from agentcore.server.logging.log_setup import configure_logging; configure_logging();"
        "log = structlog.get_logger('f'); log.info('x' * 100000); log.info('again'); os._exit(7)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    process.stderr.close()
    assert process.wait(60) == 7


def test_log_of_a_terminal_goes_to_the_file_alone_and_warnings_are_reported(configured, tmp_path, capfd):
    configured()
    reported = []
    with log_to_state_folder(tmp_path):
        log_to_file_only(reported.append)
        structlog.get_logger("quiet").info("module_ready", tools=3)
        structlog.get_logger("quiet").warning("disk_low", token="hunter2")
        logging.getLogger("some.package").error("it failed")
    lines = [json.loads(line) for line in (tmp_path / "logs" / "server.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["module_ready", "disk_low", "it failed"]
    assert reported == lines[1:]
    assert "hunter2" not in str(lines)
    assert capfd.readouterr() == ("", "")
