"""Detection of secrets by the names of their values, and masking.

The record of calls, log lines, displayed settings and the environment of this process all use it. It is the second net:
known secrets are `SecretStr`, or marked in their schema.

A boolean is never a secret, whatever its name. A number is one only where secrets consist of digits: `pin`, `password`,
one `token`; `tokens`, `token_limit` and `password_length` count something.
"""

import html
import json
import re
import threading
from base64 import b64encode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

from agentcore.encoding import to_json

MASK = "•••"
"""Shown instead of a secret."""

SECRET_NAME = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"  # noqa: S105 - the form of a name
"""Pattern of names of secrets stored for settings of modules."""

SECRET_PARTS = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "authorization", "cookie"),
    *("bearer", "apikey", "accesskey", "privatekey"),
)
"""Parts that indicate a secret anywhere in a name, in any spelling: `accessToken`, `X-Api-Key`, `PGPASSWORD`."""

SECRET_ENDS = ("pass",)
"""Parts that indicate a secret at the end of a name: `smtp_pass`."""

SECRET_NAMES = frozenset(("pin",))
"""Parts that indicate a secret only as the whole name, because they occur in too many other names."""

IN_LOG_LINES = frozenset(("code", "codes"))
"""Words that indicate a secret in a log line, where a code is for logging in or pairing.

Elsewhere a code is the text of a program.
"""

IN_ENVIRONMENT = frozenset(("key", "keys", "pass", "pat", "dsn"))
"""Words that indicate a secret in the name of a variable; elsewhere a key may be on a keyboard or in an object."""

IN_QUERY = IN_ENVIRONMENT | {"sig", "signature", "auth"}
"""Words that indicate a secret in the name of a parameter of an address."""

PLAIN_NAMES = frozenset(("status_code", "exit_code", "error_code", "return_code", "close_code", "code_point"))
"""Names that look like secrets but are not."""

_PLAIN_WORDS = frozenset(
    (
        *("bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass", "secretary", "secretariat"),
        *("tokenizer", "tokenizers", "tokenize", "tokenized", "tokenization"),
    )
)
"""Words that contain the name of a secret by accident."""

_COUNTS = frozenset(("max", "min", "input", "output", "total", "context", "prompt", "completion", "used", "cached"))
"""Words that make `tokens` the size of a model's text, whatever its value."""

_MEASURES = frozenset(
    (
        *("count", "counts", "number", "index", "length", "len", "size", "sizes", "chars", "bytes", "limit"),
        *("limits", "budget", "usage", "rate", "ratio", "price", "cost", "left", "remaining", "spent", "used"),
        *("reasoning", "estimate", "estimated", "rounds", "iterations", "attempts", "retries", "version", "port"),
        *("strength", "score", "level", "age", "ttl", "lifetime", "expires", "expiry", "expiration", "timeout"),
        *("second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "s", "ms", "in", "out", "min"),
        *("max", "total", "input", "output", "cached", "status", "points"),
    )
)
"""Last words of a name under which a number is not a secret: how many, how long, which.

First words do not count: `http_password` and `sign_in_token` are secrets.
"""

_BOUNDS = frozenset(("max", "min", "total", "num", "number", "count"))
"""First words of a name under which a number is not a secret."""

_COUNTED = frozenset(("tokens", "cookies", "passwords", "passphrases", "secrets", "credentials", "keys", "codes"))
"""Words that mean that a number under the name is a count."""

_NUMBER_TEXT = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{1,9})?")
_HEADER = re.compile(
    r"(?:--?[A-Za-z][\w-]*=)?\s*(?P<name>[A-Za-z][A-Za-z0-9_-]*)\s*:\s*(?:(?:Bearer|Basic|Token)\s+)?(?P<value>[^\s/].*)",
    re.IGNORECASE | re.DOTALL,
)
_OPTION = re.compile(r"--?(?P<name>[A-Za-z][\w-]*)(?:=(?P<value>.+))?", re.DOTALL)
_SCHEME = re.compile(r"(?P<name>Bearer|Basic|Token)\s+(?P<value>[^\s]{8,})", re.IGNORECASE)
_SCHEME_BEFORE = re.compile(r"(?:Bearer|Basic|Token)\s+(?=\S)", re.IGNORECASE)
_KEY_LIKE = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,100}[0-9])[A-Za-z0-9_-]{16,}|gh[a-z]_\w{20,}"
    r"|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}|acap_[\w-]{20,})"
)
_JSON_SCALAR = re.compile(r'(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|"(?:[^"\\]|\\.)*"|[-+.\w]+')
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.+)", re.DOTALL)
_PASSWORD = re.compile(
    r"(?:(?<=://)[^/\s:@]*|\A[^/\s:@]+):(?P<value>[^/\s@]+)@(?=[^/\s@]+(?:\.[a-z]|:[0-9])|localhost|\[)"
    r"|(?<=://)(?P<user>[^/\s:@]{16,})@",
    re.IGNORECASE,
)
_PARAMETER = re.compile(r"[#?&;](?P<name>[^=&#?;\s]{1,100})=(?P<value>[^&#\s\"']+)")
_PERCENT = re.compile(r"%[0-9A-F]{2}")
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME_CHARS = 200  # longer text is not a name; its end is checked, as for any other
_NAMES_KEPT = 4096
_OWN_VARIABLE = "AGENTCORE_"
# the path of the state folder is not secret, and users may need it
_PLAIN_VARIABLE = "AGENTCORE_STATE_DIR"
_ADDRESS_WITH_PASSWORD = re.compile(r"://[^/\s:]*+:[^/\s]*@")

_KNOWN_CHARS = 8  # shorter values occur in texts by accident, and masking them would tear holes
_KNOWN_VALUES = 1000
_KNOWN_LINES = 200  # lines of one value that are masked separately
_ARMOUR = "-----"  # first and last lines of a key file are the same in all of them

_known: Counter[str] = Counter()
_spelled: dict[str, frozenset[str]] = {}
_known_lock = threading.Lock()
_longest_first: tuple[str, ...] = ()

_NONE: frozenset[str] = frozenset()
_PLAIN_KINDS = frozenset((int, float, bool, NoneType))
_harmless: set[str] = set()  # keys of log lines that were already checked
_HARMLESS_KEPT = 1000  # they are names in code, so their number is limited anyway


def is_secret_name(name: str, also: frozenset[str] = _NONE) -> bool:
    """Return True if values under this name are treated as secrets.

    Args:
        name: In any spelling: `api_key`, `api-key`, `apiKey`, `API_KEY`.
        also: Additional words that indicate a secret, such as `IN_LOG_LINES`.
    """
    return _matches_secret_name(name[-_NAME_CHARS:], also)


@lru_cache(_NAMES_KEPT)
def _matches_secret_name(name: str, also: frozenset[str]) -> bool:
    if name in PLAIN_NAMES:
        return False
    words = set(_split_words(name))
    if "tokens" in words and not words.isdisjoint(_COUNTS):
        return False  # the size of a model's text
    flat = _SEPARATORS.sub("", name.lower())
    for word in words & _PLAIN_WORDS:
        flat = flat.replace(word, "")
    is_known = flat in SECRET_NAMES or flat.endswith(SECRET_ENDS) or any(part in flat for part in SECRET_PARTS)
    return is_known or not words.isdisjoint(also)


def is_secret_value(name: str, value: Any, also: frozenset[str] = _NONE) -> bool:
    """Return True if a value must be hidden under this name; empty values are not secrets.

    Args:
        name: As for `is_secret_name`.
        value: A JSON value, or an object passed to a log line.
        also: As for `is_secret_name`.
    """
    if value is None or isinstance(value, bool) or not is_secret_name(name, also):
        return False
    if isinstance(value, int | float):
        return value != 0 and not _is_count(name)
    if isinstance(value, str):
        return value != "" and not (_is_measure(name) and _NUMBER_TEXT.fullmatch(value))
    if isinstance(value, dict):  # tokens: {"input": 12, "output": 7}
        return not all(_is_plain_number(f"{name}_{key}", part) for key, part in value.items())
    return not (isinstance(value, list) and not value)


def _is_plain_number(name: str, value: Any) -> bool:
    return isinstance(value, int | float) and _is_measure(name)


@lru_cache(_NAMES_KEPT)
def _split_words(name: str) -> tuple[str, ...]:
    return tuple([word.lower() for word in _WORD.findall(name[-_NAME_CHARS:])])


def _is_measure(name: str) -> bool:
    words = _split_words(name)
    return bool(words) and (words[-1] in _MEASURES or words[0] in _BOUNDS)


def _is_count(name: str) -> bool:
    """Return True if a number under a secret's name is a count."""
    return _is_measure(name) or not _COUNTED.isdisjoint(_split_words(name))


def is_secret_variable(name: str, value: str) -> bool:
    """Return True if an environment variable looks like a key: an agentcore variable, or an address with a password."""
    is_own = name.startswith(_OWN_VARIABLE) and name != _PLAIN_VARIABLE
    return is_own or is_secret_value(name, value, IN_ENVIRONMENT) or _ADDRESS_WITH_PASSWORD.search(value) is not None


class SecretSpan(NamedTuple):
    """Position of a secret in a text, and its name there, such as `apiKey` or `Authorization`."""

    start: int
    end: int
    name: str


def find_secrets(text: str) -> list[SecretSpan]:
    """Return the secrets inside a text of a configuration: in an address, with or without its scheme, or in a header.

    A key counts anywhere if its format is recognised, such as `ghp_…`. References such as `${secret:NAME}` and masks do
    not count.
    """
    header = _HEADER.fullmatch(text)
    scheme = _SCHEME.fullmatch(text)
    if header is not None and is_secret_name(header["name"], IN_ENVIRONMENT):
        found = [SecretSpan(*header.span("value"), header["name"])]
    elif scheme is not None:
        found = [SecretSpan(*scheme.span("value"), scheme["name"])]
    else:
        keys = [SecretSpan(*key.span(), "") for key in _KEY_LIKE.finditer(text)]
        found = _without_overlaps([*_secrets_of_address(text), *keys])
    return _without_references(text, found)


def _secrets_of_address(text: str) -> list[SecretSpan]:
    if not ("://" in text or _PASSWORD.match(text) or "?" in text or "#" in text):
        return []
    named = ((each, unquote(each["name"])) for each in _PARAMETER.finditer(text))
    found = [
        SecretSpan(*each.span("value"), name)
        for each, name in named
        if is_secret_name(name, IN_QUERY) and not (_is_count(name) and _NUMBER_TEXT.fullmatch(each["value"]))
    ]
    if password := _PASSWORD.search(text):
        found.append(SecretSpan(*password.span(password.lastgroup or 0), "password"))
    return found


def _without_overlaps(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Return the spans in order, merging those that overlap."""
    found: list[SecretSpan] = []
    for span in sorted(spans):
        if found and span.start < found[-1].end:
            before = found.pop()
            span = SecretSpan(before.start, max(before.end, span.end), before.name or span.name)  # noqa: PLW2901
        found.append(span)
    return found


def _without_references(text: str, spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    return [span for span in spans if (secret := text[span.start : span.end]) != MASK and "${" not in secret]


def spans_of_value(name: str, text: str) -> list[SecretSpan]:
    """Return the secrets in a literal text of settings: all of it, or parts of an address, a header or JSON.

    Args:
        name: The name of its variable, header or key; empty: none.
    """
    if is_secret_value(name, text, IN_ENVIRONMENT):
        scheme = _SCHEME_BEFORE.match(text)
        return _without_references(text, [SecretSpan(scheme.end() if scheme else 0, len(text), name)])
    if _looks_like_json(text):
        return _spans_in_json(text)
    found = find_secrets(text)
    if _SCHEME.fullmatch(text):
        return [span._replace(name=name or span.name) for span in found]
    if not found and is_secret_variable(name, text):
        return _without_references(text, [SecretSpan(0, len(text), name)])
    return [span._replace(name=span.name or name) for span in found]


def spans_of_argument(text: str, before: str = "") -> list[SecretSpan]:
    """Return the secrets in an argument of a command: the values of options, of variables and of JSON.

    Args:
        before: The preceding argument, after which a text may be a secret: `--token`.
    """
    option = _OPTION.fullmatch(text)
    preceding = _OPTION.fullmatch(before)
    name = ""
    start = 0
    if option is not None and option["value"]:
        name = option["name"]
        start = option.start("value")
    elif text.startswith("-"):
        return find_secrets(text)
    elif preceding is not None and preceding["value"] is None:
        name = preceding["name"]
    variable = _ASSIGNMENT.fullmatch(text, start)
    if variable is not None and not is_secret_name(name, IN_ENVIRONMENT):
        name = variable["name"]
        start = variable.start("value")
    return [SecretSpan(start + span.start, start + span.end, span.name) for span in spans_of_value(name, text[start:])]


class WrittenSecrets(NamedTuple):
    """A settings value that contains secrets: its path, its text, and the positions of the secrets."""

    path: tuple[str | int, ...]
    text: str
    spans: list[SecretSpan]

    @property
    def secrets(self) -> list[str]:
        """The secrets themselves."""
        return [self.text[span.start : span.end] for span in self.spans]


def find_written_secrets(value: Any, name: str = "", path: tuple[str | int, ...] = ()) -> Iterator[WrittenSecrets]:
    """Find each literal secret in settings.

    Masks, pasted blocks and checks all use this one rule.
    """
    if isinstance(value, dict):
        for key, part in value.items():
            yield from find_written_secrets(part, str(key), (*path, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            if not isinstance(part, str):
                yield from find_written_secrets(part, name, (*path, at))
            elif is_secret_name(name, IN_ENVIRONMENT):
                yield from _written((*path, at), part, _without_references(part, [SecretSpan(0, len(part), name)]))
            else:
                before = value[at - 1] if at else ""
                spans = spans_of_argument(part, before if isinstance(before, str) else "")
                yield from _written((*path, at), part, spans)
    elif isinstance(value, str):
        yield from _written(path, value, spans_of_value(name, value))
    elif is_secret_value(name, value, IN_ENVIRONMENT):
        text = str(value)
        yield WrittenSecrets(path, text, [SecretSpan(0, len(text), name)])


def _written(path: tuple[str | int, ...], text: str, spans: list[SecretSpan]) -> Iterator[WrittenSecrets]:
    if text and spans:
        yield WrittenSecrets(path, text, spans)


def _looks_like_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _spans_in_json(text: str) -> list[SecretSpan]:
    """Return the secrets in JSON text, each with its position."""
    scalars: list[tuple[int, int]] = []

    def numbered(scalar: re.Match[str]) -> str:
        if scalar["key"]:
            return scalar[0]
        scalars.append(scalar.span())
        return str(len(scalars) - 1)

    try:
        value = json.loads(text)
        # the same document with each scalar replaced by its number
        places = json.loads(_JSON_SCALAR.sub(numbered, text))
        all_written = list(find_written_secrets(value))
    except (ValueError, RecursionError):
        return find_secrets(text)
    found: list[SecretSpan] = []
    for written in all_written:
        place = places
        for step in written.path:
            place = place[step]
        start, end = scalars[place]
        if text[start] == '"':
            start = start + 1
            end = end - 1
        is_as_written = text[start:end] == written.text
        found += [
            SecretSpan(start + span.start, start + span.end, span.name)
            if is_as_written
            else SecretSpan(start, end, span.name)
            for span in (written.spans if is_as_written else written.spans[:1])
        ]
    return found


def mask_named_secrets(value: Any) -> Any:
    """Mask the values under names of secrets in a JSON value, or in tuples of such; empty values are not masked."""
    if isinstance(value, dict):
        return {key: MASK if _is_named_secret(key, part) else mask_named_secrets(part) for key, part in value.items()}
    if isinstance(value, list):
        return [mask_named_secrets(part) for part in value]
    if isinstance(value, tuple):
        return tuple([mask_named_secrets(part) for part in value])
    return value


def _is_named_secret(key: Any, value: Any) -> bool:
    return isinstance(key, str) and is_secret_value(key, value)


def masked_json(text: str, limit_chars: int) -> str:
    """Mask the values under names of secrets in a JSON object's text, and cut it to a limit with an ellipsis.

    Args:
        text: A JSON object.
        limit_chars: Maximum length of the result in code points.
    """
    if _may_contain_secret(text.lower()):
        text = json.dumps(mask_named_secrets(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= limit_chars else text[: limit_chars - 1] + "…"


def _may_contain_secret(lowered: str) -> bool:
    """Return True if a lower-case text contains part of any name of the table; most do not, and are not parsed."""
    # unrolled instead of a loop: this runs for each call
    return (
        "pass" in lowered
        or "secret" in lowered
        or "token" in lowered
        or "key" in lowered
        or "credential" in lowered
        or "authorization" in lowered
        or "cookie" in lowered
        or "bearer" in lowered
        or "pin" in lowered
    )


def register_masked_values(values: Iterable[str]) -> Callable[[], None]:
    """Mask values wherever `mask_known_secrets` is applied, until the returned function is called.

    Each line of a value is masked separately as well, and so are the spellings in which both may appear in a message:
    `repr`, JSON, percent-encoding, base64 (also as part of a longer encoded value, as in a Basic header).
    """
    kept = [value for value in values if len(value) >= _KNOWN_CHARS]
    with _known_lock:
        kept = kept[: max(0, _KNOWN_VALUES - len(_known))]
        _known.update(kept)
        _sort_known()

    def forget() -> None:
        with _known_lock:
            _known.subtract(kept)
            kept.clear()
            for value in [value for value, count in _known.items() if count <= 0]:
                del _known[value]
            _sort_known()

    return forget


def _sort_known() -> None:
    global _longest_first  # noqa: PLW0603 - replaced as a whole, so that readers need no lock
    for value in _spelled.keys() - _known.keys():
        del _spelled[value]
    for value in _known.keys() - _spelled.keys():
        _spelled[value] = _find_spellings(value)
    _longest_first = tuple(sorted(frozenset().union(*_spelled.values()), key=len, reverse=True))


def _find_spellings(value: str) -> frozenset[str]:
    """Return the forms in which a secret may appear in a text."""
    lines = [line.strip() for line in value.splitlines()[:_KNOWN_LINES]]
    parts = {value, value.strip(), *(line for line in lines if not line.startswith(_ARMOUR)), *_find_parts(value)}
    return frozenset(
        spelling
        for part in parts
        if len(part) >= _KNOWN_CHARS
        for spelling in _encode_variants(part)
        if len(spelling) >= _KNOWN_CHARS
    )


def _find_parts(value: str) -> list[str]:
    """Return the secrets inside a secret: the token of `Bearer X`, an address's password, fields of a JSON key file."""
    text = value.strip()
    found = [text[span.start : span.end] for span in spans_of_value("", text)]
    found += [unquote(part) for part in found]
    fields = [field for part in (text, *found) if "\\" in part for field in _unescaped(part)]
    if _looks_like_json(text):
        fields += _find_json_secrets(text)
    found += fields
    found += [line.strip() for field in fields for line in field.splitlines()[:_KNOWN_LINES]]
    return [part for part in found if not part.startswith(_ARMOUR)]


def _unescaped(text: str) -> list[str]:
    """Decode part of a JSON string; empty if it is invalid."""
    try:
        return [json.loads(f'"{text}"', strict=False)]
    except ValueError:
        return []


def _find_json_secrets(text: str) -> list[str]:
    """Return the values under names of secrets in a JSON text, at any depth."""
    try:
        return [secret for written in find_written_secrets(json.loads(text)) for secret in written.secrets]
    except (ValueError, RecursionError):
        return []


def _encode_variants(text: str) -> Iterator[str]:
    data = text.encode("utf-8", "surrogatepass")
    yield text
    # of text and of bytes, as quoted in Python's own messages; the quotes depend on the content
    for shown in (repr(text)[1:-1], ascii(text)[1:-1], repr(data)[2:-1], repr(text.encode("latin-1", "replace"))[2:-1]):
        yield shown
        yield shown.replace("\\'", "'")
    for is_ascii in (True, False):
        in_json = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
        yield in_json
        yield repr(in_json)[1:-1]
        yield json.dumps(in_json, ensure_ascii=is_ascii)[1:-1]
    yield html.escape(text)
    yield html.escape(text, quote=False)
    yield html.escape(text).replace("&#x27;", "&#39;")
    for quoted in (quote(data), quote(data, safe=""), quote_plus(data)):
        yield quoted
        yield _PERCENT.sub(lambda found: found[0].lower(), quoted)
    for before in range(3):
        # as part of a longer encoded value, three alignments are possible; characters at its ends mix with their
        # neighbours
        start = (before * 8 + 5) // 6
        end = (before + len(data)) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(before) + data).decode()[start:end]


def mask_known_secrets(text: str) -> str:
    """Return the text with each secret that is currently in use masked."""
    for value in _longest_first:
        if value in text:
            text = text.replace(value, MASK)
    return text


_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")


def mask_address(address: str) -> str:
    """Return an address with its user and password, and keys in its query, masked."""
    shown = []
    at = 0
    for span in find_secrets(address):
        shown += [address[at : span.start], MASK]
        at = span.end
    return _USERINFO.sub(f"{MASK}@", "".join([*shown, address[at:]]), count=1)


def is_secret_argument(text: str, before: str = "") -> bool:
    """True if an argument of a command contains a secret: `--token=VALUE`, a header, an address with a key.

    Args:
        before: The preceding argument, after which a text may be a secret: `--token`.
    """
    return bool(spans_of_argument(text, before))


def holds_secret(text: str, before: str = "") -> bool:
    """True if a text contains a secret: one currently in use, or one shown by an argument of a command.

    Args:
        before: As for `is_secret_argument`.
    """
    return mask_known_secrets(text) != text or is_secret_argument(text, before)


def mask_known_secrets_inside(value: Any) -> Any:
    """Return a value with each secret currently in use masked, at any depth and in the keys of mappings.

    Any other object that would show a secret, such as an exception, is replaced by its masked description.
    """
    if not _longest_first or isinstance(value, int | float | NoneType):
        return value
    if isinstance(value, str):
        return mask_known_secrets(value)
    if isinstance(value, dict):
        return {mask_known_secrets_inside(key): mask_known_secrets_inside(part) for key, part in value.items()}
    for kind in (list, tuple, frozenset, set):
        if isinstance(value, kind):  # not the value's own class: named tuples are constructed differently
            return kind([mask_known_secrets_inside(part) for part in value])
    return _mask_description(value)


def _mask_description(value: Any) -> Any:
    """Return bytes without secrets; another object itself, or its masked description if that would show a secret."""
    if isinstance(value, bytes | bytearray):
        return mask_known_secrets(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    for describe in (_as_json, repr):
        try:
            shown = describe(value)
        except Exception:  # noqa: BLE001 - a foreign class may raise whatever it likes, and a log line has to be written
            return f"<{type(value).__name__}>"
        if mask_known_secrets(shown) != shown:
            return mask_known_secrets(shown)
    return value


def _as_json(value: Any) -> str:
    return to_json(value).decode("utf-8", "replace")


def mask_line(line: MutableMapping[str, Any]) -> None:
    """Mask values under names of secrets in a log line, and each secret currently in use."""
    for key, value in line.items():
        kind = type(value)
        if kind is str:  # nearly all are
            if _longest_first:
                line[key] = mask_known_secrets(value)
        elif kind not in _PLAIN_KINDS and key != "exc_info":  # an exception is masked in its traceback
            known = mask_known_secrets_inside(value)
            line[key] = known if isinstance(known, str) else mask_named_secrets(known)
    if line.keys() <= _harmless:
        return
    for key in line:
        if is_secret_name(key, IN_LOG_LINES):
            if is_secret_value(key, line[key], IN_LOG_LINES):
                line[key] = MASK
        elif len(_harmless) < _HARMLESS_KEPT:
            _harmless.add(key)
