"""The server's side of foreign machines: pairing, their state while one is away, and what they provide."""
