"""Who may come in: page sessions, keys of clients, codes that count once."""
