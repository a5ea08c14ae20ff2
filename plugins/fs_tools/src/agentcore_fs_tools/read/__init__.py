"""`read_file`, `list_dir` and `file_stat`: the content and status of files and folders."""
