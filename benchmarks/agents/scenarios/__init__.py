"""The scenarios: each has a title, a task in the words of a person, the world that it needs, and its steps."""
