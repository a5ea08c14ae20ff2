"""Files that modules may touch: the workspace, folders opened beneath it (openat2), names, protected paths, and
how their bytes are text."""
