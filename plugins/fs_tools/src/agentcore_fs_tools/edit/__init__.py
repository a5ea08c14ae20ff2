"""`write_file` and `edit`: change the content of a text file in one step."""
