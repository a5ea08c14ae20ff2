"""The live picture of a page, and what a person does through it."""
