"""Models: providers, their keys and lists, one request and its answer."""
