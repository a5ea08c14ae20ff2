"""The live preview of a page, and user input through it."""
