"""Hosts: modules outside the server process, in other processes and on other machines, and the links to them."""
