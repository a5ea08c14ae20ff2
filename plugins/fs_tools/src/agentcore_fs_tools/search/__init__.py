"""`glob` and `grep`: ripgrep finds candidates, which are verified in the workspace before they are shown."""
