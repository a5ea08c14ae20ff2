"""Files for agents: the module `fs_tools` of agentcore."""

from agentcore_fs_tools.module import FsTools

__all__ = ["FsTools"]
