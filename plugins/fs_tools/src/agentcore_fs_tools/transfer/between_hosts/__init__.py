"""`copy_between_hosts`: one file from one machine to another, in pieces that the server passes on."""
