"""Where the code of modules is found: entry points, local folders, what they need."""
