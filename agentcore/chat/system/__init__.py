"""The system message, in parts whose source the user sees, and which they may leave out."""
