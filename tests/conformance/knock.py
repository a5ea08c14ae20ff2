"""The command that the suite starts for each scenario: has it done by the process at a socket.

`python knock.py SOCKET URL`. One process serves all, for an interpreter with a host in it takes a second to start.
"""

import json
import os
import socket
import sys

asked = {"url": sys.argv[2], "context": json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))}
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    connection.sendall(json.dumps(asked).encode() + b"\n")
    while part := connection.recv(65536):
        os.write(1, part)
