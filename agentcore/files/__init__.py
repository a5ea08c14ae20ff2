"""Files that modules may access: the workspace, folders opened beneath it (openat2), names, protected paths, and
text encodings."""
