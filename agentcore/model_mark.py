"""The mark by which an argument's schema says what models are shown of it."""

FOR_MODELS = "x-model"
"""`false` at an argument that models are not shown, or a text in place of its description."""
