"""What may run: authority of principals, rules, modes, grants and what they look at."""
