"""What a call puts to the person of a chat, and the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentcore.errors import ToolError
from agentcore.host.calls.forms import FormField

InquiryKind = Literal["text", "form", "address", "sample"]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question.

    Args:
        text: What is asked; of a `sample` what the model would be told.
        timeout_s: How long to wait.
        kind: Whether words are the answer, a form that is filled in, that an address was opened, or the leave to have
            the session's model write.
        options: Words to choose from; the person may give others.
        fields: The form's.
        url: The address.
    """

    text: str
    timeout_s: float
    kind: InquiryKind = "text"
    options: Sequence[str] | None = None
    fields: Sequence[FormField] = ()
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer.

    Args:
        text: Its words.
        content: What a form was filled in with; not checked yet.
        is_declined: The person wants to give none. Of a `sample` and an `address` anything else is a yes.
    """

    text: str = ""
    content: Mapping[str, Any] | None = None
    is_declined: bool = False


def declined(question: str) -> ToolError:
    """The person was asked, and does not want to."""
    return ToolError("declined", f"the person declined to answer: {question!r}; do not ask again for the same thing")
