"""`write_file` and `edit`: the content of a text file, changed in one step."""
