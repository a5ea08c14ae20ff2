"""Checks the greeting of a foreign machine."""

import re

from agentcore.hosts.server_side.replies import Hello
from agentcore.hosts.wire.frames import LinkError

HELLO_SECONDS = 15.0
"""How long a host may take to greet, and then to report its resources."""

_MODULES = 200
_MODULE_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def check_hello(told: Hello, name: str) -> None:
    """Check that a greeting is one of a foreign machine.

    Raises:
        LinkError: It is not.
    """
    if told.name != name:
        raise LinkError(f"it calls itself {told.name[:100]!r}, and its key is that of {name!r}")
    if not told.instance:
        raise LinkError("it does not say which start of its program it is")
    check_members(told)


def check_members(told: Hello) -> None:
    """Check that the modules in a greeting can be distinguished.

    Raises:
        LinkError: They cannot.
    """
    names = [each.name for each in told.members]
    numbers = [each.module for each in told.members]
    if len(names) > _MODULES or len(set(names)) != len(names) or len(set(numbers)) != len(numbers):
        raise LinkError(f"more than {_MODULES} modules, or two of one name or number")
    for each in names:
        if not _MODULE_NAME.fullmatch(each):
            raise LinkError(f"{each[:100]!r} is no name of a module")
