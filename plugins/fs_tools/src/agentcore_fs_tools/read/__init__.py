"""`read_file`, `list_dir` and `file_stat`: what a file or a folder holds."""
