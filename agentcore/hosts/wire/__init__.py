"""The protocol between a server and hosts of modules: frames, requests, replies, values as they travel. Light."""
