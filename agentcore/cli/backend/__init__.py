"""Where a command runs: in the server, or in a host of its own."""
