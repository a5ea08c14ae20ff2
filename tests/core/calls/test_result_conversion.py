"""What a call gives: one shape, bounded."""

import pytest

from agentcore.api import ArtifactLink, Audio, EmbeddedResource, Image, Text
from agentcore.limits import IMAGE_BYTES, RESULT_BLOCKS
from tests.core.calls.lab import call, error_of

HOST = {"modules": ["lab"]}


@pytest.mark.spec("M6")
async def test_model_result_becomes_data_and_its_text(host):
    outcome = await call(host, "add", numbers=[1, 2], startAt=4)
    assert outcome.unwrap().data == {"total": 7}
    assert outcome.unwrap().blocks() == [Text('{"total":7}')]


@pytest.mark.spec("M6")
@pytest.mark.parametrize(
    ("kind", "data", "blocks"),
    [
        ("text", None, [Text("plain")]),
        ("none", None, []),
        ("dataclass", {"x": 3}, [Text('{"x":3}')]),
        ("image", None, [Image(b"\x89PNG")]),
        ("audio", None, [Audio(b"RIFF")]),
        ("document", None, [EmbeddedResource("notes://1", "a text")]),
        ("blob", None, [EmbeddedResource("notes://2", b"\x00", "application/x-notes")]),
        ("surrogate", {"name": "caf\\udce9", "list": ["\\udcff"]}, None),
    ],
)
async def test_whatever_a_tool_gives_becomes_one_shape(host, kind, data, blocks):
    outcome = await call(host, "give", kind=kind)
    assert outcome.unwrap().data == data
    assert blocks is None or outcome.unwrap().blocks() == blocks
    assert outcome.encode_envelope().decode()


@pytest.mark.spec("M6")
async def test_text_that_is_no_unicode_still_leaves_as_json(host):
    outcome = await call(host, "give", kind="surrogate text")
    assert b"\\udce9" in outcome.encode_envelope()


@pytest.mark.spec("M6")
async def test_result_that_is_no_json_is_an_internal_error(host):
    assert error_of(await call(host, "give", kind="object")).type == "internal_error"


@pytest.mark.spec("M6")
async def test_structured_data_over_its_bound_is_result_too_large(host):
    assert error_of(await call(host, "give", kind="big data")).type == "result_too_large"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("many blocks", "more than 1,000 content blocks"),
        ("endless blocks", "more than 1,000 content blocks"),
        ("many values", "more than 200,000 values"),
    ],
)
async def test_blocks_and_values_of_a_result_are_counted(host, kind, said):
    error = error_of(await call(host, "give", kind=kind))
    assert error.type == "result_too_large"
    assert said in error.message
    assert len((await call(host, "give", kind="blocks")).unwrap().blocks()) == RESULT_BLOCKS


@pytest.mark.spec("M6")
async def test_text_over_its_bound_becomes_an_artifact_with_its_head(host):
    result = (await call(host, "give", kind="big text")).unwrap()
    head, link = result.blocks()
    assert isinstance(head, Text)
    assert head.text.startswith("0123456789\n")
    assert isinstance(link, ArtifactLink)
    assert result.truncated
    assert len(await host.store.artifacts.load(link.artifact_id)) == 3_300_000


@pytest.mark.spec("M6")
async def test_tool_has_a_bound_of_its_own(host):
    head, link = (await call(host, "capped")).unwrap().blocks()
    assert head.text.startswith("line\nline\n")
    assert len(head.text) < 250
    assert link.size_bytes == 500


@pytest.mark.spec("M6")
async def test_image_over_its_bound_becomes_an_artifact(host):
    (link,) = (await call(host, "give", kind="big image")).unwrap().blocks()
    assert isinstance(link, ArtifactLink)


@pytest.mark.spec("M6")
@pytest.mark.parametrize(("kind", "size"), [("big audio", IMAGE_BYTES + 1), ("big document", 3_300_000)])
async def test_sound_or_document_over_its_bound_becomes_an_artifact(host, kind, size):
    result = (await call(host, "give", kind=kind)).unwrap()
    (link,) = [block for block in result.blocks() if isinstance(block, ArtifactLink)]
    assert result.truncated
    assert len(await host.store.artifacts.load(link.artifact_id)) == size
