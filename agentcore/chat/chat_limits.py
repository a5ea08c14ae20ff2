"""Limits of the chat, one constant each."""

EDITED_BYTES = 16 * 1024
"""Maximum size of the arguments edited by the user, as sent to a model."""

PAGE_BYTES = 32 * 1024
"""Maximum size of the table of a page's elements, as sent to a model."""

PAGE_URL_CHARS = 4000
"""Maximum length of a page's address, for a model and for the user."""

PAGE_TITLE_CHARS = 1000
"""Maximum length of a page's title."""

STEPS = 50
"""Maximum requests to the model in one turn, unless the agent's settings say otherwise."""

FEW_STEPS = 3
"""How many requests before its limit a turn starts to tell the model how many are left."""

TURN_TOKENS = 2_000_000
"""Maximum tokens of one turn, unless the agent's settings say otherwise."""

READS_AT_ONCE = 8
"""Calls of one answer that only read and run at the same time."""

PARALLEL_CALLS = 4
"""Calls of parallel tools, such as those that run sub-agents, that run at the same time in one turn."""

CALLS_IN_A_TURN = 64
"""Maximum calls in one answer of a model."""

FOLDER_INSTRUCTIONS_CHARS = 20_000
"""Maximum length of one file of instructions in the working folder, as sent to a model."""

OWN_INSTRUCTIONS_CHARS = 50_000
"""Maximum length of the user's instructions for one session."""

TITLE_CHARS = 80
"""Maximum length of a session's title, by default the beginning of its first message."""

PROVIDER_SILENCE_SECONDS = 120.0
"""Maximum time without data from a provider."""

KEPT_BLOCK_BYTES = 64 * 1024
"""Maximum size of a part of a result that is stored with the session; a larger one becomes an artifact."""

SESSIONS_LISTED = 1000
"""Maximum sessions on one page of the list."""

MESSAGES_LISTED = 200
"""Maximum messages on one page of a session."""

MESSAGE_CHARS = 1_000_000
"""Maximum length of one user message."""

QUEUED_MESSAGES = 20
"""Maximum number of user messages that wait in one session."""

QUEUED_CHARS = MESSAGE_CHARS
"""Maximum total length of these messages; a single one is never too long."""

TODOS = 200
"""Maximum items on a session's to-do list."""

TODO_CHARS = 2000
"""Maximum length of one item that a user writes."""

TODOS_BYTES = 64 * 1024
"""Maximum size of the list, as JSON text."""

ASK_SECONDS = 3600.0
"""Maximum time that a tool may wait for the user's answer."""

ANSWER_CHARS = 100_000
"""Maximum length of a user's answer to a question."""

SUB_AGENT_DEPTH = 3
"""Maximum nesting depth of sub-agents."""

OFFERED_TOOLS = 48
"""Maximum server tools that are offered to a model; further ones are found by searching."""

MODULE_SHARE = 3
"""Tools of each module that are always among them, unless there are too many modules."""

TOOLS_SHARE = 0.25
"""Maximum share of a model's context for the definitions of server tools, if its size is known."""

RESULT_SHARE = 0.25
"""Maximum share of a model's context for one result, if its size is known."""

RESULT_ROOM_SHARE = 0.45
"""Maximum share of what definitions and instructions leave: below `LARGEST_SHARE`, so that no result is cut again."""

RESULT_CHARS_MIN = 700
"""Minimum length of one result for a model, however small its context is."""

TINY_CONTEXT_TOKENS = 3_000
"""Below this size a model gets nothing but its tools: no search for further ones, no advice of modules."""

FOLDER_SHARE = 0.1
"""Maximum share of a model's context for one file of instructions in the working folder, if its size is known."""

RESULT_CHARS_A_TOKEN = 3
"""Characters of a result for each token: few, because results are often code."""

FOUND_TOOLS = 5
"""Maximum tools that one search returns."""

FOUND_TOOLS_KEPT = 80
"""Maximum found tools that a session stores; the oldest are dropped first."""

ARGUMENTS_CHARS = 1024 * 1024
"""Maximum length of the arguments of one call of a model, as JSON text."""

CLIENT_TOOLS = 128
"""Maximum tools that a client provides."""

CLIENT_SCHEMAS_BYTES = 512 * 1024
"""Maximum total size of the schemas of their arguments, as JSON text."""

CLIENT_PATTERNS = 200
"""Maximum total number of regular expressions in these schemas."""

CONTEXT_TOKENS = 32_000
"""Context size that is assumed if a model's is unknown."""

CONTEXT_TOKENS_MIN = 1024
"""Minimum context size that is assumed after a provider's refusal."""

CONTEXT_LIST_SECONDS = 5.0
"""Maximum time to wait for a provider's list of models during a turn."""

COMPACT_AT = 0.8
"""Share of the context above which the history is shortened."""

COMPACT_TO = 0.5
"""Target share of the room for messages; low, because each compaction invalidates the provider's cache."""

KEPT_SHARE = 0.4
"""Maximum share of that room for the newest messages, which stay in full beside a summary."""

LARGEST_SHARE = 0.5
"""Maximum share of that room for one message or result."""

WORDS_SHARE = 0.15
"""Maximum share of that room for the user's own texts, which are kept beside a summary."""

SUMMARY_SHARE = 0.2
"""Maximum share of the context for a summary."""

SUMMARY_TOKENS = 4_000
"""Maximum tokens of a summary, however long the context is."""

SHORTENED_TOKENS = 120
"""Results with fewer tokens are not shortened: the line in their place would hardly be shorter."""

IMAGE_TOKENS = 1600
"""Tokens assumed for an image, about the most that providers count for one."""

ATTACHMENTS = 10
"""Maximum files of one message."""

ATTACHED_CHARS = 100_000
"""Maximum total text of a message's files that is sent to the model; each file also has the limit of a result."""

PICTURES_SENT = 20
"""Maximum attached images in one request; older ones are only named."""

PICTURES_SENT_BYTES = 20_000_000
"""Maximum total size of these images: providers accept requests of 32 MB, and encoding adds a third to an image."""

SKILLS_FOUND = 200
"""Maximum skills that are found; further ones are ignored."""

SKILLS_PROPOSED = 8
"""Maximum skills that wait for the user's review at once; the others are proposed when these are decided."""

SKILL_HEAD_CHARS = 16 * 1024
"""Maximum length of the frontmatter of a skill."""

SKILL_BYTES = 128 * 1024
"""Maximum size of a SKILL.md."""

SKILL_FILE_BYTES = 128 * 1024
"""Maximum size of another file of a skill as text; of a larger one, the user reviews the digest."""

SKILL_TEXT_BYTES = 2 * 1024 * 1024
"""Maximum total size of a skill's files as text; of further ones, the user reviews the digest."""

SKILL_HASHED_BYTES = 32 * 1024 * 1024
"""Maximum total size of the other files of a skill."""

SKILL_FILES = 2_000
"""Maximum files of a skill."""

SKILL_DEPTH = 12
"""Maximum depth of the folders in a skill."""

SKILLS_TOLD_CHARS = 12_000
"""Maximum total length of the names and descriptions of skills, as sent to a model."""
