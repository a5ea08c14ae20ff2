"""Foreign code and what it gives: run inside of limits, read once into plain values."""
