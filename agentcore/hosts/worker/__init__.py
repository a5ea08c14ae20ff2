"""A host of modules in a process of its own: loads them, carries out their calls, and holds their resources."""
