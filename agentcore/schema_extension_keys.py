"""The JSON Schema keys that set what models see of an argument, and by which other names they may give it."""

FOR_MODELS = "x-model"
"""`false` for an argument hidden from models, or a text that replaces its description."""

ALIASES = "x-aliases"
"""Names that models know from other products, accepted from them in place of the argument's own."""

IGNORED = "x-ignored"
"""Names beside an argument that models know from other products, and that say nothing here: they are left out."""

FLAT = "x-flat"
"""`true` for a list of objects: models may give the properties of a single one beside the other arguments."""
