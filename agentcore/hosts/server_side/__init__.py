"""The server's side of hosts: proxies of modules in hosts, and control of process hosts."""
