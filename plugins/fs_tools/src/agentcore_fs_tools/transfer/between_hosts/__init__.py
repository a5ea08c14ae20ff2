"""`copy_between_hosts`: copy one file between machines, in chunks that the server relays."""
