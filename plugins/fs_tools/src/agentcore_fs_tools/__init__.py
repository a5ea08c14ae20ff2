"""The agentcore module `fs_tools`: file tools for agents."""

from agentcore_fs_tools.module import FsTools

__all__ = ["FsTools"]
