"""The server's side of hosts on other machines: who is let in, what is kept while one is away, and what it brings."""
