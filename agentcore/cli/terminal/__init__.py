"""Output and input at a terminal."""
