"""The server's side of hosts: what stands here for modules that run elsewhere, and for where they run."""
