"""Exceptions of modules become text, whatever they do about it."""

import threading

import pytest

from agentcore.core.containment.foreign_error import TEXT_CHARS, reason_of, text_of, traceback_of, type_name


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


class LyingError(Exception):
    @property
    def __class__(self):
        raise RuntimeError("no class")

    @property
    def __traceback__(self):
        raise RuntimeError("no traceback")

    @property
    def __cause__(self):
        raise RuntimeError("no cause")

    @property
    def args(self):
        raise RuntimeError("no args")


class Meta(type):
    @property
    def __name__(cls):
        raise RuntimeError("no name")


class NamelessError(Exception, metaclass=Meta):
    pass


class LoudText(str):
    def __str__(self) -> str:
        raise RuntimeError("not me")

    __len__ = __getitem__ = encode = __str__


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
        (RaisingError, "RaisingError: [its text cannot be read: SystemExit]"),
        (NoTextError, "NoTextError: [its text cannot be read: TypeError]"),
        (lambda: ValueError(RaisingError()), "ValueError: [its text cannot be read: SystemExit]"),
        (lambda: LyingError("x"), "LyingError: x"),
        (lambda: NamelessError("x"), "NamelessError: x"),
        (lambda: ValueError(LoudText("quiet")), "ValueError: quiet"),
    ],
)
def test_reason_is_what_the_exception_says_or_why_it_does_not(make, said):
    assert reason_of(raised(make())) == said
    assert traceback_of(raised(make())).splitlines()[-1].endswith(said)


def test_text_is_bounded():
    assert len(text_of(HugeError())) < TEXT_CHARS + 100
    assert len(text_of(ValueError("x" * 10_000_000))) < TEXT_CHARS + 100
    assert len(type_name(type("X" * 1_000_000, (), {})())) < 300


def test_text_that_never_comes_is_waited_for_once():
    release, asked = threading.Event(), []

    class HangingError(Exception):
        def __str__(self) -> str:
            asked.append(self)
            release.wait()
            return "late"

    assert text_of(HangingError()).startswith("[its text did not come")
    assert text_of(HangingError()).startswith("[its text did not come")
    release.set()
    assert len(asked) == 1


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
    for _ in range(200):
        group = ExceptionGroup("deep", [group] * 3)
    assert len(traceback_of(group)) < 20_000

    def recurse(depth: int) -> None:
        if depth:
            recurse(depth - 1)
        raise ValueError("deep")

    try:
        recurse(500)
    except ValueError as exc:
        told = traceback_of(exc)
    assert "calls left out" in told
    assert len(told) < 20_000


def test_source_is_read_from_files_only():
    told = ""
    try:
        exec(compile("raise ValueError('x')", "/dev/zero", "exec"))
    except ValueError as exc:
        told = traceback_of(exc)
    assert 'File "/dev/zero", line 1' in told
