"""The core: loads modules, carries out calls, manages resources."""
