"""XML from untrusted files as events, in constant memory.

A document type declaration is refused: neither Office nor OpenDocument files have one, and entities (which can expand
to gigabytes, or name files and addresses) cannot be declared without it.
"""

from collections.abc import Iterable, Iterator
from xml.parsers import expat

from agentcore.documents.formats.parser_output import UnreadableError
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Start:
    """The start of an element: its name without the namespace, and its attributes, named `namespace name`."""

    name: str
    attributes: dict[str, str]

    def get(self, name: str) -> str:
        """Return an attribute by its name without the namespace; empty if it is missing."""
        if name in self.attributes:
            return self.attributes[name]
        return self.get_qualified(name)

    def get_qualified(self, name: str) -> str:
        """Return an attribute that has a namespace, such as `r:id` beside `id`."""
        return next((value for key, value in self.attributes.items() if key.endswith(f" {name}")), "")


@dataclass(frozen=True, slots=True)
class End:
    """The end of an element."""

    name: str


Event = Start | End | str
"""A string is text between tags."""


def read_events(blocks: Iterable[bytes]) -> Iterator[Event]:
    """Parse XML.

    Raises:
        UnreadableError: It declares a document type.
        xml.parsers.expat.ExpatError: It is not well-formed.
    """
    found: list[Event] = []
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: found.append(Start(name.rpartition(" ")[2], attributes))
    parser.EndElementHandler = lambda name: found.append(End(name.rpartition(" ")[2]))
    parser.CharacterDataHandler = found.append
    parser.StartDoctypeDeclHandler = _refuse_doctype
    for block in blocks:
        parser.Parse(block, False)
        yield from found
        found.clear()
    parser.Parse(b"", True)
    yield from found


def skip_element(events: Iterator[Event]) -> None:
    """Skip the rest of the element that has just started."""
    depth = 1
    for event in events:
        depth += isinstance(event, Start) - isinstance(event, End)
        if not depth:
            return


def read_text(events: Iterator[Event]) -> str:
    """Return all text of the element that has just started."""
    depth = 1
    texts = []
    for event in events:
        if isinstance(event, str):
            texts.append(event)
            continue
        depth += 1 if isinstance(event, Start) else -1
        if not depth:
            break
    return "".join(texts)


def _refuse_doctype(*_: object) -> None:
    raise UnreadableError("it declares a document type, which can hide an attack")
