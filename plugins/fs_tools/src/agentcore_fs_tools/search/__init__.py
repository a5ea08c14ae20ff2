"""`glob` and `grep`: ripgrep names candidates, and what is really there is shown."""
