"""Explain how the sandbox may have made a command fail, and what to do about it."""

import re

_TAIL_CHARS = 16_000
_READ_ONLY = re.compile(r"read-only file system|\bEROFS\b|os error 30\b|\[Errno 30\]|只读文件系统", re.IGNORECASE)
_HELD = re.compile(r"device or resource busy|\bEBUSY\b|could not lock config file|设备或资源忙", re.IGNORECASE)
_NO_NETWORK = re.compile(
    r"network is unreachable|could ?n.t resolve|could not resolve|temporary failure in name resolution|"
    r"name or service not known|getaddrinfo|\bENETUNREACH\b|\bEAI_AGAIN\b|failed to connect to|no route to host",
    re.IGNORECASE,
)
_NAMESPACES = re.compile(
    r"unshare failed|creating new namespace|no usable sandbox|clone: .*not permitted|user namespaces?", re.IGNORECASE
)
_HIDDEN = re.compile(r"permission denied \(publickey|could not read (?:username|password)|identity file", re.IGNORECASE)


def explain_denial(output: str, exit_code: int | None, *, network: bool) -> str:
    """Return a sentence on what the sandbox has probably refused and how to allow it; empty if nothing indicates that.

    Args:
        output: Output of the command.
        exit_code: Exit code of the command, or the negative number of the signal; None: unknown.
        network: True if commands have network access.
    """
    tail = output[-_TAIL_CHARS:]
    if _HELD.search(tail):
        reason = (
            "git's configuration and hooks, and other protected files, are held while commands run; changing them with "
            "edit (such as a remote or an upstream in `.git/config`) asks a person, and a person can run this "
            "themselves, or list the file in the setting `writable` of shell_tools, which lets commands have git run "
            "anything outside of the sandbox"
        )
    elif _READ_ONLY.search(tail):
        reason = (
            "commands can write only the workspace, its protected files (such as git's hooks and configuration) "
            "excepted; a person can list further paths in the setting `writable` of shell_tools"
        )
    elif exit_code == 0:
        return ""
    elif not network and _NO_NETWORK.search(tail):
        reason = "commands have no network; the setting `network` of shell_tools gives it to them"
    elif _HIDDEN.search(tail):
        reason = (
            "keys and passwords in the home folder are not there for commands; a person runs this themselves, or turns "
            "the setting `sandbox` of shell_tools off"
        )
    elif _NAMESPACES.search(tail):
        reason = "programs cannot make sandboxes of their own in it; start them without theirs (such as `--no-sandbox`)"
    else:
        return ""
    return f"[The sandbox may be why: {reason}.]"
