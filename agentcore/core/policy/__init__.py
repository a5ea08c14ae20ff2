"""What may run: authority of principals, rules, modes, grants, and the facts that they check."""
