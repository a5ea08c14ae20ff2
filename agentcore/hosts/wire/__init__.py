"""The protocol between a server and hosts of modules: frames, requests, replies, encoded values. Light."""
