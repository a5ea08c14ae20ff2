"""app.json: its model, the files and environment variables it is merged from, and edits."""
