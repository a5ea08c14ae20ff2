"""Content of `server.json`: what a running server publishes about itself."""

from pydantic import BaseModel


class ServerInfo(BaseModel, extra="forbid", frozen=True, defer_build=True):
    """The process that holds a state folder and serves.

    Args:
        addresses: Base URLs by purpose: `page`, and `approval` once there is an approval origin.
        config: Absolute path of its app.json.
    """

    pid: int
    addresses: dict[str, str]
    config: str
