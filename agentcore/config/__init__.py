"""app.json: its model, the files and the environment that it is merged from, and how it is edited."""
