"""The one SQLite file, its schema and its writer."""
