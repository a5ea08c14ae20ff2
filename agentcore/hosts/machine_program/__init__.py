"""The program of a host on another machine: runs the modules of its own app.json, and dials in to its server."""
