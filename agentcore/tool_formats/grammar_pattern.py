"""Convert string patterns to a form from which servers of local models can build a grammar.

Such a grammar supports neither classes such as `\\S` nor look-arounds, and must describe the whole string. The model
generates the string between the quotes of JSON, so a pattern may match neither a quote nor a backslash. Source:
`_visit_pattern` in llama.cpp's `common/json-schema-to-grammar.cpp`.
"""

import re
from math import prod

REPETITIONS = 256
"""Maximum repetitions in one pattern; llama.cpp rejects 2,000, and each takes memory there."""

_TOKEN = re.compile(
    r"(?P<set>\[(?:\\[dw./-]|[A-Za-z0-9_ :/,@#%=<>!~;.+*?$(){}|-])+\])"
    r"|(?P<escape>\\[dw./@:,#=+*?$(){}|-])"
    r"|(?P<literal>[A-Za-z0-9_ :/,@#%=<>!~;-])"
    r"|(?P<group>\((?:\?:)?)"
    r"|(?P<end>\))"
    r"|(?P<choice>\|)"
)
_COUNT = re.compile(r"[*+?]|\{(?P<least>\d{1,4})(?:,(?P<most>\d{0,4}))?\}")
_SETS = {"d": "0-9", "w": "A-Za-z0-9_"}


def grammar_pattern(pattern: str) -> str | None:
    """Convert a pattern for use in a grammar; None if that is not possible.

    The classes `\\d` and `\\w` become their ASCII variants.
    """
    if not (pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$")):
        return None
    inner = pattern[1:-1]
    position = 0
    depth = 0
    counts = [1]
    made = ""
    is_begun = False  # True once the current alternative is not empty
    while position < len(inner):
        token = _TOKEN.match(inner, position)
        if token is None:
            return None
        position = token.end()
        depth += (token["group"] is not None) - (token["end"] is not None)
        if depth < 0 or (token["choice"] and depth == 0) or (not is_begun and (token["end"] or token["choice"])):
            return None
        is_begun = not (token["group"] or token["choice"])
        written = _write_token(token)
        if written is None:
            return None
        made += written
        if is_begun and (count := _COUNT.match(inner, position)):
            position = count.end()
            counts += [int(number) for number in (count["least"], count["most"]) if number and int(number)]
            made += count[0]
    return f"^{made}$" if made and depth == 0 and prod(counts) <= REPETITIONS else None


def _write_token(token: re.Match[str]) -> str | None:
    if token["set"] is not None:
        return _write_set(token["set"][1:-1])
    if token["escape"] is not None:
        char = token["escape"][1]
        # as a set: otherwise a repetition would also apply to the literals before it
        return f"[{_SETS.get(char, char)}]"
    return "(" if token["group"] is not None else token[0]


def _write_set(inside: str) -> str | None:
    """Return a set without escapes, with a literal hyphen at its end."""
    for char, chars in _SETS.items():
        inside = inside.replace(f"\\{char}", chars)
    is_hyphen_meant = "\\-" in inside
    inside = inside.replace("\\-", "").replace("\\.", ".").replace("\\/", "/")
    return f"[{inside}{'-' if is_hyphen_meant else ''}]"
