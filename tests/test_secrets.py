"""What is a secret is so on every surface: in the record, the log, settings, the environment and the command line."""

import base64
import html
import io
import json
import os
import re
import subprocess
import sys
import urllib.parse
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.api import Module, tool
from agentcore.chat.settings import AgentConfig, ModelConfig
from agentcore.config.loading import AppConfig, load_config
from agentcore.core.settings.display import diff_of, redact_settings
from agentcore.core.settings.settings_change import SettingChange, plan_changes
from agentcore.core.settings.settings_document import SettingsSubject
from agentcore.secrets import (
    IN_ENVIRONMENT,
    IN_LOG_LINES,
    MASK,
    SECRET_ENDS,
    SECRET_NAMES,
    SECRET_PARTS,
    is_secret_name,
    is_secret_variable,
    mask_known_secrets,
    mask_named_secrets,
    masked_json,
    register_masked_values,
)
from agentcore.server.logging.json_lines import LineWriter, line_logger

PAGE = Path(__file__).resolve().parents[1] / "webui"

SECRET = (
    *("password", "passwd", "PGPASSWORD", "smtp_pass", "passphrase", "user_passcode", "pin"),
    *("token", "accessToken", "access-token", "GITHUB_TOKEN", "refresh_tokens", "tokens"),
    *(
        "api_key",
        "apiKey",
        "APIKey",
        "x-api-key",
        "X-Api-Key",
        "OPENAI_API_KEY",
        "private_key",
        "privateKey",
        "accessKey",
    ),
    *("secret", "clientSecret", "aws_secret_access_key", "credential", "credentials", "Authorization"),
    *("proxy-authorization", "cookie", "set-cookie", "Set-Cookie", "sessionCookies", "bearer"),
)
PLAIN = (
    *("path", "command", "text", "url", "keyboard", "monkey", "author", "pinned", "pin_tab", "passed", "exit_code"),
    *("status_code", "max_tokens", "context_tokens", "inputTokens", "compassion"),
)
VALUES = {name: f"hunter-{index}." for index, name in enumerate(SECRET)} | {name: f"plain-{name}." for name in PLAIN}

Surface = Callable[[Path, Any], Awaitable[str]]


class Keeper(Module):
    """Takes anything."""

    name = "keeper"

    @tool(read_only=True)
    async def keep(self, values: dict[str, Any]) -> str:
        """Take it."""
        return "taken"


async def in_record(_folder: Path, make_host: Any) -> str:
    running = await make_host(modules=[Keeper()])
    host = running.host
    await running.call("keep", values={"deeper": [VALUES]})
    await host.store.record.flush()
    return "".join([entry.row.arguments for entry in await host.store.record.read_page()])


async def in_log(_folder: Path, _make_host: Any) -> str:
    stream = io.StringIO()
    logger: Any = line_logger(0)(LineWriter(stream), (), {})
    logger.warning("shown", **VALUES)
    return stream.getvalue()


async def in_settings(folder: Path, _make_host: Any) -> str:
    """Settings as the server shows them, and the diff of a change."""
    (folder / "app.json").write_text(json.dumps({"models": {"fast": VALUES}}))
    before = SettingsSubject.of_app(load_config(folder / "app.json", {})).read_document()
    after = plan_changes(before, [SettingChange(("models", "slow"), VALUES)]).after
    return json.dumps(redact_settings(before).values) + "".join(text for _, text in diff_of(before, after))


async def in_diff(folder: Path, _make_host: Any) -> str:
    """The diff of a file with settings of a module that nobody knows here."""
    before = SettingsSubject.of_app(load_config(folder / "app.json", {})).read_document()
    (folder / "app.json").write_text(json.dumps({"config": {"unknown": {"a": VALUES}}}, indent=2))
    after = SettingsSubject.of_app(load_config(folder / "app.json", {})).read_document()
    return "".join(text for _, text in diff_of(before, after))


async def in_environment(_folder: Path, _make_host: Any) -> str:
    script = "import ctypes; from agentcore.core.process_privacy import hide_secrets; hide_secrets(); "
    script += "ctypes.CDLL(None).prctl(4, 1, 0, 0, 0); "  # or an ordinary user could not read it
    script += "print(open('/proc/self/environ').read())"
    environ = {"PATH": os.environ["PATH"], **VALUES}
    return subprocess.run(
        [sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True
    ).stdout


async def in_command_line(folder: Path, _make_host: Any) -> str:
    (folder / "app.json").write_text(json.dumps({"models": {"fast": VALUES}}))
    command = [sys.executable, "-m", "agentcore", "config", "show"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.spec("M8", "S7")
@pytest.mark.parametrize(
    "surface",
    [
        in_record,
        in_log,
        in_settings,
        pytest.param(
            in_environment,
            marks=pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is no /proc"),
        ),
        in_command_line,
    ],
)
async def test_each_surface_hides_the_same_names_and_shows_the_others(
    surface: Surface, tmp_path: Path, agentcore_host: Any
) -> None:
    text = await surface(tmp_path, agentcore_host)
    assert [name for name in SECRET if VALUES[name] in text] == []
    assert [name for name in PLAIN if VALUES[name] not in text] == []


NUMBERS = {
    **dict.fromkeys(("tokens", "token_limit", "tokenLimit", "tokens_per_minute", "reasoning_tokens"), 4000017),
    **dict.fromkeys(("password_length", "cookie_count", "cookies", "token_expires_in", "secret_version"), 4000018),
    **dict.fromkeys(("port", "compass", "bypass_after", "tokenizer", "token_port", "has_passwords"), 4000019),
    "usage": {"tokens": {"input": 4_000_020, "output": 4_000_021, "cached": 4_000_022}},
}
PRIVATE = ("pin", "password", "token", "smtp_pass", "secret", "api_key", "cookie", "sign_in_token")
DIGITS = {name: 9_000_000 + at for at, name in enumerate((*PRIVATE, "apiKey", "http_password"))}


@pytest.mark.spec("M8", "S7")
@pytest.mark.parametrize("surface", [in_record, in_log, in_settings, in_diff, in_command_line])
async def test_each_surface_shows_numbers_and_hides_digits_that_somebody_keeps_to_themselves(
    surface: Surface, tmp_path: Path, agentcore_host: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "VALUES", {**NUMBERS, **DIGITS, "has_token": True})
    text = await surface(tmp_path, agentcore_host)
    assert [number for number in range(4_000_017, 4_000_023) if str(number) not in text] == []
    assert [name for name, number in DIGITS.items() if str(number) in text] == []
    assert re.search("has_token[^a-zA-Z]+[tT]rue", text)


MEASURED = st.sampled_from(("max_{}s", "{}_count", "{}-limit", "{}ExpiresIn", "{}_length", "total {}s", "{}s"))
KINDS = st.sampled_from(("token", "cookie", "password", "secret", "credential"))


@given(MEASURED, KINDS, st.integers(min_value=1) | st.floats(min_value=0.001, allow_infinity=False) | st.booleans())
def test_no_number_that_counts_something_is_hidden(name: str, kind: str, number: float) -> None:
    shown = mask_named_secrets({"a": [{name.format(kind): number}]})
    assert shown == {"a": [{name.format(kind): number}]}


@pytest.mark.more
@given(
    st.sampled_from([*SECRET, *(f"my_{name}" for name in SECRET if name != "pin"), "my_tokenizer_token"]),
    st.text(min_size=1).filter(lambda text: not text.isdigit()) | st.lists(st.integers(), min_size=1),
)
def test_no_text_and_no_list_under_a_secrets_name_is_shown(name: str, value: Any) -> None:
    hidden = mask_named_secrets({"a": {name: value, "b": [{name: {"c": value}}]}})
    assert hidden == {"a": {name: MASK, "b": [{name: MASK}]}}


@given(st.sampled_from(PRIVATE), st.integers(1))
def test_no_digits_that_somebody_keeps_to_themselves_are_shown(name: str, digits: int) -> None:
    assert mask_named_secrets({name: digits, f"{name}s": [digits]})[name] == MASK
    assert mask_named_secrets({name: str(digits)})[name] == MASK


def test_no_number_that_our_own_settings_know_is_hidden() -> None:
    def numbers(schema: Any) -> Iterator[str]:
        for name, part in schema.get("properties", {}).items():
            if any(each.get("type") in ("integer", "number") for each in (part, *part.get("anyOf", ()))):
                yield name

    models = (AppConfig, AgentConfig, ModelConfig)
    schemas = [each for model in models for each in _with_definitions(model.model_json_schema())]
    names = {name for schema in schemas for name in numbers(schema)}
    assert {"max_tokens", "context_tokens", "port", "stop_grace"} <= names
    assert [name for name in names if mask_named_secrets({name: 5}) != {name: 5}] == []


def _with_definitions(schema: Any) -> list[Any]:
    return [schema, *schema.get("$defs", {}).values()]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("SSH_KEY", "x", True),
        ("KEYS", "x", True),
        ("SMTP_PASS", "x", True),
        ("GITHUB_PAT", "x", True),
        ("SENTRY_DSN", "x", True),
        ("AGENTCORE_CONFIG__WEATHER__WORD", "x", True),
        ("HTTPS_PROXY", "http://user:word@proxy:3128", True),
        ("HTTPS_PROXY", "http://proxy:3128", False),
        ("AGENTCORE_STATE_DIR", "/state", False),
        ("XAUTHORITY", "/run/x", False),
        ("SSH_AUTH_SOCK", "/run/s", False),
        ("PATH", "/bin:/usr/bin", False),
        ("KEYBOARD", "us", False),
    ],
)
def test_variables_that_look_like_keys_are_told_from_others(name: str, value: str, expected: bool) -> None:
    assert is_secret_variable(name, value) is expected


def test_what_tells_of_a_secret_on_one_surface_alone_does_so_nowhere_else() -> None:
    assert is_secret_name("pairing_code", IN_LOG_LINES)
    assert is_secret_name("sshKey", IN_ENVIRONMENT)
    assert not is_secret_name("code")
    assert not is_secret_name("key")


@pytest.mark.parametrize("name", [*SECRET_PARTS, *SECRET_ENDS, *SECRET_NAMES, *SECRET])
def test_text_of_the_record_is_parsed_for_each_name_of_the_table(name: str) -> None:
    """The quick look that most texts pass unparsed misses none."""
    assert masked_json(json.dumps({"a": {name: "hunter2"}}), 1000) == json.dumps(
        {"a": {name: MASK}}, separators=(",", ":"), ensure_ascii=False
    )


@given(st.text(alphabet="passwordKEY_-token secret.pin", max_size=30))
def test_quick_look_agrees_with_the_table(name: str) -> None:
    if is_secret_name(name) and re.search("[-_. ]", name) is None:
        assert json.loads(masked_json(json.dumps({name: "hunter2"}), 1000)) == {name: MASK}


def test_what_is_empty_is_not_masked() -> None:
    assert mask_named_secrets({"password": "", "token": None, "cookies": []}) == {
        "password": "",
        "token": None,
        "cookies": [],
    }


def test_text_that_is_too_long_is_cut_after_it_was_masked() -> None:
    assert masked_json('{"password":"hunter2","a":1}', 14) == '{"password":"…'


def test_page_and_server_have_one_mask() -> None:
    assert f"export const MASK = '{MASK}';" in (PAGE / "schema" / "secrets.js").read_text()


TWO_LINES = 'first-line\'Ü/s+1\nsecond line "quoted" 22'
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda value: value,
    "repr": repr,
    "repr of bytes": lambda value: f"Illegal header value {value.encode()!r}",
    "ascii": ascii,
    "JSON": json.dumps,
    "JSON in Unicode": lambda value: json.dumps(value, ensure_ascii=False),
    "percent": urllib.parse.quote,
    "percent of all": lambda value: urllib.parse.quote(value, safe="").lower(),
    "form": urllib.parse.quote_plus,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "Basic header": lambda value: f"Basic {base64.b64encode(b'me:' + value.encode()).decode()}",
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(b"user:" + value.encode()).decode(),
    "JSON in JSON": lambda value: json.dumps(json.dumps({"at": value})),
    "repr of JSON": lambda value: repr(json.dumps({"at": value})),
    "HTML": html.escape,
    "HTML as of templates": lambda value: html.escape(value).replace("&#x27;", "&#39;"),
    "first line": lambda value: value.splitlines()[0],
    "last line, indented": lambda value: f"  {value.splitlines()[1]}",
    "percent of a line": lambda value: urllib.parse.quote(value.splitlines()[1]),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_of_a_secret_in_use_is_masked_and_other_text_stays(spelling: str) -> None:
    said = f"before {SPELLINGS[spelling](TWO_LINES)} after"
    assert mask_known_secrets(said) == said
    forget = register_masked_values([TWO_LINES])
    shown = mask_known_secrets(said)
    forget()
    assert MASK in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    # of base64, at most the characters at its ends that hold bits of others
    pieces = ("line", "quoted", "s+1", "s%2B1", "s%2b1", base64.b64encode(TWO_LINES.encode()).decode()[4:16])
    assert not [piece for piece in pieces if piece in shown.replace("Illegal header value", "")]
    assert mask_known_secrets(said) == said


def test_lines_that_frame_every_key_are_not_masked() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----"
    forget = register_masked_values([key])
    shown = mask_known_secrets("-----BEGIN PRIVATE KEY----- MIIEvQIBADANBgkq")
    forget()
    assert shown == f"-----BEGIN PRIVATE KEY----- {MASK}"


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("Bearer s3cret-token-01", "s3cret-token-01"),
        ("postgres://me:s3cret-pass%2F01@db.test:5432/x", "s3cret-pass%2F01"),
        ("postgres://me:s3cret-pass%2F01@db.test:5432/x", "s3cret-pass/01"),
        (json.dumps({"type": "account", "private_key": "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n"}), "MIIEvQIBADANBgkq"),
        (json.dumps({"client": {"client_secret": "s3cret-client-01"}}), "s3cret-client-01"),
    ],
)
def test_secret_inside_of_a_secret_is_masked_by_itself_and_what_is_around_it_is_not(value, part):
    forget = register_masked_values([value])
    shown = mask_known_secrets(f"refused: {part}, at db.test as account")
    forget()
    assert shown == f"refused: {MASK}, at db.test as account"
