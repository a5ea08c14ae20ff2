"""The HTTP server of the core: authenticates requests, reads them and sends responses. It makes no decisions."""
