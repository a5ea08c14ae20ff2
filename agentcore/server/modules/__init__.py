"""What modules bring over HTTP: their routes, sockets, switches, descriptions."""
