"""One constant for each bound of the chat."""

MODEL_BYTES = 256 * 1024
"""Text of one result that a model is told."""

PAGE_BYTES = 32 * 1024
"""The table of a page's elements that a model is told."""

STEPS = 50
"""Requests to the model in one turn, unless the agent's settings say otherwise."""

TURN_TOKENS = 2_000_000
"""Tokens of one turn, unless the agent's settings say otherwise."""

CALLS_IN_A_TURN = 64
"""Calls that one answer of a model may ask for."""

TITLE_CHARS = 80
"""The head of the first message that names a session."""

PROVIDER_SILENCE_SECONDS = 120.0
"""How long a provider may send nothing."""

KEPT_BLOCK_BYTES = 64 * 1024
"""One part of a result that is kept with the session; more becomes an artifact."""

SESSIONS_LISTED = 1000
"""Sessions of one page of the list."""

MESSAGES_LISTED = 200
"""Messages of one page of a session."""

MESSAGE_CHARS = 1_000_000
"""One message of a person."""
