"""Patterns of strings in a form that a grammar can be made of, as servers of local models make them.

Such a grammar has no classes such as `\\S`, no look-arounds, and wants the whole string described. What it lets
through stands between the quotes of JSON as the model writes it, so that a pattern may match neither a quote nor a
backslash. Source: `_visit_pattern` in llama.cpp's `common/json-schema-to-grammar.cpp`.
"""

import re
from math import prod

REPETITIONS = 256
"""Most repetitions in one pattern; llama.cpp refuses 2,000, and each costs memory there."""

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
    """The same pattern as a grammar can take it; None: it cannot.

    The classes `\\d` and `\\w` become the ASCII ones.
    """
    if not (pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$")):
        return None
    inner = pattern[1:-1]
    position = 0
    depth = 0
    counts = [1]
    made = ""
    is_begun = False  # whether something stands in the alternative already
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
        # as a set of one, for what counts it would else count the literals before it as well
        return f"[{_SETS.get(char, char)}]"
    return "(" if token["group"] is not None else token[0]


def _write_set(inside: str) -> str | None:
    """The inside of a set without escapes; None: a grammar would read it in another way."""
    for char, chars in _SETS.items():
        inside = inside.replace(f"\\{char}", chars)
    is_hyphen_meant = "\\-" in inside
    inside = inside.replace("\\-", "").replace("\\.", ".").replace("\\/", "/")
    return f"[{inside}{'-' if is_hyphen_meant else ''}]"
