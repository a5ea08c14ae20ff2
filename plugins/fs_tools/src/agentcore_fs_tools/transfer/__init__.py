"""`file_move`, `file_copy` and `file_delete`: move, copy and delete files and trees."""
