"""Strict reading of the arguments that a module passes to its runtime; subclasses implement the effects."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from agentcore.api.hosts import AnswerHosts
from agentcore.api.login import Login
from agentcore.api.report import ReadReport
from agentcore.api.requirement import Requirement
from agentcore.bounds import FOREIGN_INSTRUCTIONS_CHARS
from agentcore.core.containment.reading import WrongValueError, read_mapping, read_text
from agentcore.core.containment.requirement import ModuleRequirement
from agentcore.core.event_types import OWN_TOPICS

_OUTCOME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ADDRESS = re.compile(r"\S{1,2000}")
_EVENT = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class ReadingRuntime(ABC):
    """The part of `agentcore.api.Runtime` by which a module hands something over, wherever it runs.

    Args:
        name: The module's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.answers_hosts: AnswerHosts | None = None

    @property
    def name(self) -> str:
        """The module's name."""
        return self._name

    def publish(self, event: str, data: Mapping[str, Any], *, session_id: str | None = None) -> None:
        if self.name in OWN_TOPICS:
            message = f"events that begin with {self.name!r} are the server's own; call the module something else"
            raise ValueError(message)
        where = f"of publish in module {self.name!r}"
        name = read_text(event, f"event {where}", "the name of an event", pattern=_EVENT)
        session = None if session_id is None else read_text(session_id, f"session_id {where}")
        self._publish(name, read_mapping(data, f"data {where}", mends_text=True), session)

    def subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]:
        wanted = read_text(pattern, f"pattern of subscribe in module {self.name!r}")
        if not callable(handler):
            raise WrongValueError(f"handler of subscribe in module {self.name!r}", "a function", handler)
        return self._subscribe(wanted, handler)

    def note(self, subject: str, said: str, *, advice: str = "") -> None:
        where = f"of note in module {self.name!r}"
        about = read_text(subject, f"subject {where}")
        self._add_diagnostic(about, read_text(said, f"said {where}"), read_text(advice, f"advice {where}"))

    def give_report(self, read: ReadReport) -> None:
        if not callable(read):
            raise WrongValueError(f"read of give_report in module {self.name!r}", "a function", read)
        self._set_report_reader(read)

    def offer_login(self, login: Login) -> None:
        self._offer_login(login)

    def declare_requirement(self, requirement: Requirement) -> None:
        self._declare_requirement(ModuleRequirement(requirement, self.name))

    def record(self, outcome: str, details: Mapping[str, Any], *, call_id: str = "", session_id: str = "") -> None:
        where = f"of record in module {self.name!r}"
        what = read_text(outcome, f"outcome {where}", "a word in snake_case", pattern=_OUTCOME)
        told = read_mapping(details, f"details {where}")
        call = read_text(call_id, f"call_id {where}")
        self._record_notice(what, told, call, read_text(session_id, f"session_id {where}")[:64])

    def instruct(self, text: str) -> None:
        said = read_text(text, f"text of instruct in module {self.name!r}").strip()
        if len(said) > FOREIGN_INSTRUCTIONS_CHARS:
            raise ValueError(f"the text has {len(said):,} characters, and may have {FOREIGN_INSTRUCTIONS_CHARS:,}")
        self._set_instructions(said)

    def served_changed(self, address: str) -> None:
        where = f"address of served_changed in module {self.name!r}"
        self._served_changed(read_text(address, where, "an address without spaces", pattern=_ADDRESS))

    def answer_hosts(self, handler: AnswerHosts) -> None:
        if not callable(handler):
            raise WrongValueError(f"handler of answer_hosts in module {self.name!r}", "a function", handler)
        self.answers_hosts = handler

    @abstractmethod
    def _publish(self, event: str, data: dict[str, Any], session_id: str | None) -> None: ...
    @abstractmethod
    def _subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]: ...
    @abstractmethod
    def _add_diagnostic(self, subject: str, said: str, advice: str) -> None: ...
    @abstractmethod
    def _set_report_reader(self, read: ReadReport) -> None: ...
    @abstractmethod
    def _offer_login(self, login: Login) -> None: ...
    @abstractmethod
    def _declare_requirement(self, requirement: ModuleRequirement) -> None: ...
    @abstractmethod
    def _record_notice(self, outcome: str, details: dict[str, Any], call_id: str, session_id: str) -> None: ...
    @abstractmethod
    def _set_instructions(self, text: str) -> None: ...
    @abstractmethod
    def _served_changed(self, address: str) -> None: ...
