"""How providers say that a request is too long, and how long their lists say that contexts are."""

import json

import pytest

from agentcore.chat.model.context_errors import is_too_long, parse_context_limit
from agentcore.chat.model.context_size import parse_context_size

pytestmark = pytest.mark.spec("K9")

REFUSALS = [
    ("This model's maximum context length is 8192 tokens. However, you requested 10000 tokens.", 8192),
    ('{"message": "too long", "code": "context_length_exceeded"}', None),
    ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
    ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 200_000),
    ('{"type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}', 4096),
    ("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
    ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096),
    ("the input length exceeds the context length", None),
    ("prompt too long; exceeded max context length by 12000 tokens", None),
    ("tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096)", 4096),
    ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
    ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072),
    ("Limit 30,000, Requested 50,000. The input or output tokens must be reduced in order to run.", 30_000),
    ("Range of input length should be [1, 30720]", 30_720),
    ("Please reduce the length of the messages or completion.", None),
]


@pytest.mark.parametrize(("said", "limit"), REFUSALS)
def test_refusal_is_known_and_the_context_that_it_names_is_read(said, limit):
    assert is_too_long(said)
    assert parse_context_limit(said) == limit


@pytest.mark.parametrize("said", ["rate limit reached: 200 requests", "max_tokens must be at least 1", "context: bad"])
def test_other_refusals_are_not_taken_for_it(said):
    assert not is_too_long(said)


@pytest.mark.parametrize(
    ("entry", "size"),
    [
        ({"id": "m", "max_model_len": 4096}, 4096),
        ({"id": "m", "meta": {"n_ctx_train": 131_072, "n_ctx": 8192}}, 8192),
        ({"id": "m", "context_length": "long"}, None),
        ({"id": "other", "max_model_len": 4096}, None),
        ({"id": "m"}, None),
        ({"id": "m", "meta": 3}, None),
    ],
)
def test_size_of_the_context_is_read_from_a_list_of_models(entry, size):
    assert parse_context_size(json.dumps({"data": [entry]}).encode(), "m") == size


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b'{"data": 1}', b'{"data": [1]}', b"[" * 100_000])
def test_what_is_no_list_says_nothing(content):
    assert parse_context_size(content, "m") is None
