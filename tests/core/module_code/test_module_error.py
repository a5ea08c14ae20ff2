"""Exceptions of modules become text, whatever they do about it."""

import pytest

from agentcore.core.module_code.module_error import TEXT_CHARS, reason_of, text_of, traceback_of, type_name


class RaisingError(Exception):
    def __str__(self) -> str:
        raise SystemExit("gone")

    __repr__ = __str__


class NoTextError(Exception):
    def __str__(self) -> str:
        return 3  # noqa: PLE0307 - that is what is tried


class HugeError(Exception):
    def __str__(self) -> str:
        return "x" * 10_000_000


def raised(exc: BaseException) -> BaseException:
    try:
        raise exc
    except BaseException as caught:
        return caught


@pytest.mark.spec("M4", "S4")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ValueError("why"), "ValueError: why"),
        (ValueError, "ValueError"),
        (lambda: KeyError("key"), "KeyError: 'key'"),
        (lambda: FileNotFoundError(2, "No such file", "a.txt"), "FileNotFoundError: [Errno 2] No such file: 'a.txt'"),
        (lambda: ValueError("half \ud83d"), "ValueError: half \\ud83d"),
        (RaisingError, "RaisingError: <exception str() failed>"),
        (NoTextError, "NoTextError: <exception str() failed>"),
        (lambda: ValueError(RaisingError()), "ValueError: <exception str() failed>"),
    ],
)
def test_reason_is_what_the_exception_says_or_why_it_does_not(make, said):
    assert reason_of(raised(make())) == said
    assert traceback_of(raised(make())).splitlines()[-1].endswith(said)


def test_text_is_bounded():
    assert len(text_of(HugeError())) < TEXT_CHARS + 100
    assert len(text_of(ValueError("x" * 10_000_000))) < TEXT_CHARS + 100
    assert len(type_name(type("X" * 1_000_000, (), {})())) < 300


def test_traceback_holds_cause_context_notes_and_groups():
    try:
        try:
            raise OSError("refused")
        except OSError as exc:
            raise ExceptionGroup("several", [raised(ValueError("one")), raised(KeyError("two"))]) from exc
    except ExceptionGroup as exc:
        exc.add_note("look at the cable")
        told = traceback_of(exc)
    assert told.index("OSError: refused") < told.index("direct cause") < told.index("ExceptionGroup: several")
    assert "look at the cable" in told
    assert "  | ValueError: one" in told
    assert "  | KeyError: 'two'" in told
    assert 'raise OSError("refused")' in told


def test_circles_and_depths_of_exceptions_end():
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert traceback_of(one).count("ValueError") == 2
    group: Exception = ValueError("innermost")
    for _ in range(100):
        group = ExceptionGroup("deep", [group])
    assert len(traceback_of(group)) < 20_000

    def recurse(depth: int) -> None:
        if depth:
            recurse(depth - 1)
        raise ValueError("deep")

    try:
        recurse(500)
    except ValueError as exc:
        told = traceback_of(exc)
    assert len(told) < 20_000
