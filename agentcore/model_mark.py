"""The JSON Schema key that sets what models see of an argument."""

FOR_MODELS = "x-model"
"""`false` for an argument hidden from models, or a text that replaces its description."""
