"""app.json: its model, the files and the environment that it is laid together from, and how it is edited."""
