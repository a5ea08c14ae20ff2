"""Converts a module's exception into text, so that nothing in it can raise, hang or flood the reader.

An exception is an object of a module: its `__str__` may raise, never return, or return 100 MB; its class may lie about
its name, its cause may be itself. So no attribute is looked up the usual way: attributes are read by the slots of
`BaseException` itself, which no subclass can replace, and a `__str__` that is Python code runs in a separate thread
under a time limit. Everything is bounded. This is the only place where exceptions become text.
"""

import builtins
import linecache
import os
import stat
import sysconfig
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any
from weakref import WeakSet

from agentcore.secrets import mask_known_secrets
from agentcore.valid_text import valid_text

TEXT_CHARS = 4_000
"""The text of one exception, in code points."""

TEXT_SECONDS = 1.0
"""How long the `__str__` of an exception may take."""

_NAME_CHARS = 200
_SECRET_CHARS = 64 * 1024  # the longest text that is stored
_FRAMES = 60
_FRAMES_SEEN = 10_000
_EXCEPTIONS = 24
_NOTES = 8
_SOURCE_BYTES = 4 * 1024 * 1024
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: created at run time, not part of the interpreter

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"

_HOST = str(Path(__file__).resolve().parents[2])
_NOT_THEIRS = (_HOST, sysconfig.get_path("stdlib"), "<frozen ")

_mro = vars(type)["__mro__"].__get__
_namespace = vars(type)["__dict__"].__get__
_name = vars(type)["__name__"].__get__
_qualname = vars(type)["__qualname__"].__get__
_flags = vars(type)["__flags__"].__get__
_args = vars(BaseException)["args"].__get__
_traceback = vars(BaseException)["__traceback__"].__get__
_cause = vars(BaseException)["__cause__"].__get__
_context = vars(BaseException)["__context__"].__get__
_hides_context = vars(BaseException)["__suppress_context__"].__get__
_attributes = vars(BaseException)["__dict__"].__get__
_members = vars(BaseExceptionGroup)["exceptions"].__get__

_silent: "WeakSet[type]" = WeakSet()
"""Types whose text did not come in time: they are not asked again."""

IsShown = Callable[[str], bool]
"""True if a traceback may begin in this file."""


def type_name(value: object) -> str:
    """Return the name of a value's type, whatever its metaclass returns."""
    return _clean_text(_name(type(value)), _NAME_CHARS)


def text_of(exc: BaseException) -> str:
    """Return `str(exc)` as valid Unicode of at most `TEXT_CHARS`; or, in brackets, why there is none."""
    arguments = _args(exc)
    if not arguments and _uses_base_str(exc):
        return ""
    if len(arguments) == 1 and issubclass(type(arguments[0]), str) and _uses_base_str(exc):
        return _clean_text(arguments[0])
    suspect = _find_foreign_class(exc, arguments)
    if suspect in _silent:
        return "[its text did not come in time]"
    answer = _Answer(exc)
    try:
        answer.start()
    except RuntimeError:  # no thread can be started
        return "[its text was not read]"
    answer.join(TEXT_SECONDS)
    if answer.text is None:
        if suspect is not None:
            _silent.add(suspect)
        return f"[its text did not come within {TEXT_SECONDS:g} s]"
    return answer.text


def reason_of(exc: BaseException) -> str:
    """Return one line: the type's name, and the text of the exception."""
    text = text_of(exc)
    return f"{type_name(exc)}: {text}" if text else type_name(exc)


def traceback_of(exc: BaseException, begins_in: IsShown | None = None) -> str:
    """Return the traceback as Python writes it, with causes, contexts and groups, starting where `begins_in` is
    true."""
    return "".join(_Rendering(begins_in).render_lines(exc)).rstrip("\n")


def log_failure(log: Any, event: str, exc: BaseException, **fields: object) -> None:
    """Log a module's exception, with its traceback as text, so that no log renderer calls the exception.

    The traceback begins where the module's own code does.
    """
    log.error(event, **fields, traceback=traceback_of(exc, is_of_module))


def is_of_module(filename: str) -> bool:
    """True if a file of code belongs neither to the core nor to the standard library."""
    # installed packages are below the standard library, and may be the module's own
    return not filename.startswith(_NOT_THEIRS) or "site-packages" in filename.removeprefix(_HOST)


def attributes_of(exc: BaseException) -> dict[str, Any]:
    """The attributes that were set on an exception itself, whatever its class makes of them."""
    found: dict[str, Any] = _attributes(exc)
    return found


class _Answer(threading.Thread):
    """Gets the text of an exception in a daemon thread, which may never end and is not waited for."""

    def __init__(self, exc: BaseException) -> None:
        super().__init__(name="agentcore-exception-text", daemon=True)
        self._exc = exc
        self.text: str | None = None

    def run(self) -> None:
        """Set `text`."""
        try:
            self.text = _clean_text(str(self._exc))
        except BaseException as exc:  # noqa: BLE001 - whatever a module's `__str__` raises
            self.text = f"[its text cannot be read: {type_name(exc)}]"
        del self._exc


class _Rendering:
    """Makes one traceback; counts exceptions, so that no chain, circle or tree of them is endless."""

    def __init__(self, begins_in: IsShown | None) -> None:
        self._begins_in = begins_in
        self._seen: set[int] = set()

    def render_lines(self, exc: BaseException) -> Iterator[str]:
        chain: list[tuple[BaseException, str]] = []
        link = ""
        one: BaseException | None = exc
        while one is not None and id(one) not in self._seen and len(self._seen) < _EXCEPTIONS:
            self._seen.add(id(one))
            chain.append((one, link))
            cause = _cause(one)
            link = _CONTEXT if cause is None else _CAUSE
            one = cause if cause is not None else None if _hides_context(one) else _context(one)
        for each, after in reversed(chain):
            yield from self._render_exception(each)
            yield after

    def _render_exception(self, exc: BaseException) -> Iterator[str]:
        frames = _render_frames(_traceback(exc), self._begins_in)
        if frames:
            yield "Traceback (most recent call last):\n"
            yield from frames
        yield from _render_syntax_error(exc)
        text = text_of(exc)
        name = _full_name(type(exc))
        yield f"{name}: {text}\n" if text else f"{name}\n"
        for note in _read_notes(exc):
            yield f"{note}\n"
        if issubclass(type(exc), BaseExceptionGroup):
            yield from self._render_group(_members(exc))

    def _render_group(self, members: tuple[BaseException, ...]) -> Iterator[str]:
        for number, member in enumerate(members, 1):
            if len(self._seen) >= _EXCEPTIONS:
                yield f"  | ... and {len(members) - number + 1} more\n"
                return
            yield f"  +-- {number} of {len(members)}\n"
            for line in "".join(self.render_lines(member)).splitlines():
                yield f"  | {line}\n"


def _uses_base_str(exc: BaseException) -> bool:
    """True if its `__str__` is that of `BaseException`, which returns its one argument and runs no code of a module."""
    owner = next(cls for cls in _mro(type(exc)) if "__str__" in _namespace(cls))
    return owner is BaseException


def _find_foreign_class(exc: BaseException, arguments: tuple[object, ...]) -> type | None:
    """Return the module's class whose code runs to get the text of an exception, as far as that can be determined."""
    return next((type(one) for one in (exc, *arguments) if _flags(type(one)) & _HEAP_TYPE), None)


def _clean_text(text: str, limit_chars: int = TEXT_CHARS) -> str:
    """A plain text of bounded length that UTF-8 can carry; also of a subclass of `str`, none of whose code is run."""
    size = str.__len__(text)
    # a secret that the cut splits is recognised only as a whole
    head = str.__getitem__(text, slice(0, limit_chars + _SECRET_CHARS))
    head = mask_known_secrets(valid_text(head))[:limit_chars]
    return head if size <= limit_chars else f"{head}… [{size - limit_chars:,} more characters]"


def _full_name(kind: type) -> str:
    name = _clean_text(_qualname(kind), _NAME_CHARS)
    if not _flags(kind) & _HEAP_TYPE:
        return name
    module = _namespace(kind).get("__module__")
    return (
        name if type(module) is not str or module == builtins.__name__ else f"{_clean_text(module, _NAME_CHARS)}.{name}"
    )


def _read_notes(exc: BaseException) -> list[str]:
    notes = attributes_of(exc).get("__notes__")
    return [_clean_text(note) for note in notes[:_NOTES] if type(note) is str] if type(notes) is list else []


def _render_frames(traceback: TracebackType | None, begins_in: IsShown | None) -> list[str]:
    found: list[tuple[str, int, CodeType]] = []
    while traceback is not None and len(found) < _FRAMES_SEEN:
        code = traceback.tb_frame.f_code
        found.append((_clean_text(code.co_filename), traceback.tb_lineno, code))
        traceback = traceback.tb_next
    if begins_in is not None:
        first = next((n for n, (file, _, _) in enumerate(found) if begins_in(file)), 0)
        found = found[first:]
    shown = [_render_frame(*each) for each in (found if len(found) <= _FRAMES else found[: _FRAMES // 3])]
    if len(found) > _FRAMES:
        rest = found[-(_FRAMES - _FRAMES // 3) :]
        shown.append(f"  ... {len(found) - _FRAMES} calls left out\n")
        shown += [_render_frame(*each) for each in rest]
    return shown


def _render_frame(file: str, line: int | None, code: CodeType) -> str:
    head = f'  File "{file}", line {line}, in {_clean_text(code.co_name, _NAME_CHARS)}\n'
    source = _source_line(file, line or 0)
    return f"{head}    {source}\n" if source else head


def _source_line(file: str, line: int) -> str:
    """Return a line of a file, if it is a regular file: code may claim that it comes from `/dev/zero`."""
    try:
        status = os.stat(file)  # noqa: PTH116 - a text of any kind, and often no path
        if not stat.S_ISREG(status.st_mode) or status.st_size > _SOURCE_BYTES:
            return ""
        linecache.checkcache(file)
        return _clean_text(linecache.getline(file, line).strip(), _NAME_CHARS)
    except (OSError, ValueError, SyntaxError):
        return ""


def _render_syntax_error(exc: BaseException) -> Iterator[str]:
    """Return the location of a `SyntaxError`."""
    if not issubclass(type(exc), SyntaxError):
        return
    file, line, text = (_read_slot(SyntaxError, name, exc) for name in ("filename", "lineno", "text"))
    if type(file) is str and type(line) is int:
        yield f'  File "{_clean_text(file)}", line {line}\n'
    if type(text) is str and text.strip():
        yield f"    {_clean_text(text.strip(), _NAME_CHARS)}\n"


def _read_slot(owner: type, name: str, exc: BaseException) -> Any:
    return vars(owner)[name].__get__(exc)
