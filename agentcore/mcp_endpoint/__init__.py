"""Tools for MCP clients. Imports the SDK, which takes about a second: import this package at first use."""
