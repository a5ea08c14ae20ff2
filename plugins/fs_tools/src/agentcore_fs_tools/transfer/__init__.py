"""`file_move`, `file_copy` and `file_delete`: whole files and trees."""
