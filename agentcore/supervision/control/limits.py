"""The limits of guarding control files, one constant each."""

FOLDERS_LOOKED_AT = 300_000
"""Folders of the workspace that are searched for control files."""

HELD_PATHS = 400
"""Files and folders that the kernel keeps from one confined program; changes of the others are found afterwards."""

GONE_REMEMBERED = 5000
"""Folders of the person that programs have moved away or removed; beyond that no new folder counts as made by one."""

LOOK_SECONDS = 2.0
"""Between two looks while a confined program runs, where a look takes little of that."""

LONGEST_PAUSE_S = 15.0
"""Between two looks, however long one takes: a program that makes them slow gains no more time than that."""

LAST_LOOK_S = 5.0
"""How long a module waits for the looks at its last programs when it stops."""

REPORTED_KEPT = 50
"""Of what was quarantined, the newest that the page can list."""
