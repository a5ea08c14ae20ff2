"""Guards control files, which decide what runs outside the sandbox: pins them with mounts, else quarantines changes."""

from agentcore.supervision.control_files.control_files import ConfinedRun, ControlFiles, ControlReport
from agentcore.supervision.control_files.pinned_paths import PinnedPaths
from agentcore.supervision.control_files.quarantine import Quarantined, describe_quarantined

__all__ = ["ConfinedRun", "ControlFiles", "ControlReport", "PinnedPaths", "Quarantined", "describe_quarantined"]
