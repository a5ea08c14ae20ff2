"""The life of modules: found, loaded, read, started, stopped, reloaded; the tools that they bring."""
