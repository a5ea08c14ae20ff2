"""The commands, in one file each."""
