"""Models: providers, their keys and model lists, and requests to models."""
