"""Limits for guarding control files."""

FOLDERS_LOOKED_AT = 300_000
"""Maximum number of workspace folders that are searched for control files."""

HELD_PATHS = 400
"""Maximum number of paths that are pinned for one confined program; changes of others are found afterwards."""

GONE_REMEMBERED = 5000
"""Maximum number of remembered user folders that programs have moved or removed; beyond it, no new folder counts as
created by a program."""

LOOK_SECONDS = 2.0
"""Minimum pause in seconds between two checks while a confined program runs."""

LONGEST_PAUSE_S = 15.0
"""Maximum pause between two checks, however long one takes, so that a program cannot delay them by making them slow."""

LAST_LOOK_S = 5.0
"""How long a module waits for the final checks of its programs when it stops."""

REPORTED_KEPT = 50
"""Number of the most recently quarantined paths that the page can list."""
