"""One constant for each bound of the chat."""

EDITED_BYTES = 16 * 1024
"""Arguments that a person edited, as a model is told of them."""

PAGE_BYTES = 32 * 1024
"""The table of a page's elements that a model is told."""

PAGE_URL_CHARS = 4000
"""The address of a page, as a model is told of it, and a person sees it."""

PAGE_TITLE_CHARS = 1000
"""The title of a page."""

STEPS = 50
"""Requests to the model in one turn, unless the agent's settings say otherwise."""

TURN_TOKENS = 2_000_000
"""Tokens of one turn, unless the agent's settings say otherwise."""

CALLS_IN_A_TURN = 64
"""Calls that one answer of a model may ask for."""

FOLDER_INSTRUCTIONS_CHARS = 20_000
"""What a model is told of one file of instructions in the working folder."""

OWN_INSTRUCTIONS_CHARS = 50_000
"""Instructions that a person writes for one session."""

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

QUEUED_MESSAGES = 20
"""Messages of a person that wait in one session."""

QUEUED_CHARS = MESSAGE_CHARS
"""The same, as text; one alone is never too long."""

TODOS = 200
"""Things to do of one session."""

TODOS_BYTES = 64 * 1024
"""The same, as JSON text."""

ASK_SECONDS = 3600.0
"""How long a tool may wait for a person's answer."""

ANSWER_CHARS = 100_000
"""A person's answer to a question."""

SUB_AGENT_DEPTH = 3
"""Agents that run agents that run agents."""

OFFERED_TOOLS = 48
"""Definitions of the server's tools that a model is given; more are found by searching."""

MODULE_SHARE = 3
"""Tools of each module that are among them in any case."""

FOUND_TOOLS = 8
"""Tools that one search gives."""

FOUND_TOOLS_KEPT = 80
"""Found tools that a session keeps; the oldest are dropped first."""

ARGUMENTS_CHARS = 1024 * 1024
"""Arguments of one call of a model, as JSON text."""

CLIENT_TOOLS = 128
"""Tools that a client brings."""

CLIENT_SCHEMAS_BYTES = 512 * 1024
"""The schemas of their arguments, all together as JSON text."""

CLIENT_PATTERNS = 200
"""Regular expressions in them, all together."""

CONTEXT_TOKENS = 32_000
"""The context of a model whose size nobody says."""

CONTEXT_TOKENS_MIN = 1024
"""The least that a provider's refusal is taken to mean."""

CONTEXT_LIST_SECONDS = 5.0
"""How long a provider's list of models is waited for in the middle of a turn."""

COMPACT_AT = 0.8
"""The share of the context from which on the history is shortened."""

COMPACT_TO = 0.5
"""What of the room for messages is filled afterwards: each time costs the provider's cache of what stands before."""

KEPT_SHARE = 0.4
"""What of that room the newest messages may take that stay in full beside a summary."""

LARGEST_SHARE = 0.5
"""What of that room one message or result may take."""

WORDS_SHARE = 0.15
"""What of that room the person's own words may take that are kept beside a summary."""

SUMMARY_SHARE = 0.2
"""What of the context a summary may take."""

SUMMARY_TOKENS = 4_000
"""The most that one may take of a long context."""

SHORTENED_TOKENS = 120
"""A result of fewer tokens stays: the line in its place would hardly be shorter."""

IMAGE_TOKENS = 1600
"""What an image takes, about the most that providers count for one."""

ATTACHMENTS = 10
"""Files of one message."""

ATTACHED_CHARS = 100_000
"""Text of the files of one message that the model is given, all together; each as much as a result at most."""

PICTURES_SENT = 20
"""Attached pictures of one request; older ones are told by name."""

PICTURES_SENT_BYTES = 20_000_000
"""The same, all together: providers take requests of 32 MB, and a picture is a third longer in them."""
