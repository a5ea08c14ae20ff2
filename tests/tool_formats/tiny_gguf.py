"""The smallest model that llama.cpp loads: one layer, a byte a token, no knowledge."""

import struct
from pathlib import Path
from typing import Any

WIDTH = 32
TEMPLATE = (
    "{%- if tools %}{{ tools | tojson }}{%- endif %}"
    "{%- for message in messages %}<|{{ message.role }}|>{{ message.content }}"
    "{%- for call in message.tool_calls or [] %}{{ call | tojson }}{%- endfor %}{%- endfor %}"
)
_UINT32, _INT32, _FLOAT, _TEXT, _LIST = 4, 5, 6, 8, 9
_FORMATS = {_UINT32: "<I", _INT32: "<i", _FLOAT: "<f"}


def write_model(path: Path) -> None:
    """Write it. Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    facts = {
        "general.architecture": (_TEXT, "llama"),
        "llama.context_length": (_UINT32, 8192),
        "llama.embedding_length": (_UINT32, WIDTH),
        "llama.block_count": (_UINT32, 1),
        "llama.feed_forward_length": (_UINT32, WIDTH),
        "llama.attention.head_count": (_UINT32, 1),
        "llama.attention.layer_norm_rms_epsilon": (_FLOAT, 1e-5),
        "llama.rope.dimension_count": (_UINT32, WIDTH),
        "tokenizer.ggml.model": (_TEXT, "llama"),
        "tokenizer.ggml.tokens": (_LIST, (_TEXT, tokens)),
        "tokenizer.ggml.scores": (_LIST, (_FLOAT, [0.0] * len(tokens))),
        "tokenizer.ggml.token_type": (_LIST, (_INT32, [2, 3, 3, *[6] * 256, 1])),
        "tokenizer.ggml.bos_token_id": (_UINT32, 1),
        "tokenizer.ggml.eos_token_id": (_UINT32, 2),
        "tokenizer.ggml.unknown_token_id": (_UINT32, 0),
        "tokenizer.chat_template": (_TEXT, TEMPLATE),
    }
    layer = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (WIDTH, len(tokens)),
        "output_norm.weight": (WIDTH,),
        "output.weight": (WIDTH, len(tokens)),
        **{f"blk.0.{name}.weight": (WIDTH,) for name in ("attn_norm", "ffn_norm")},
        **{f"blk.0.{name}.weight": (WIDTH, WIDTH) for name in layer},
    }
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(facts))
    head += b"".join(
        _text(name) + struct.pack("<I", kind) + _value(kind, value) for name, (kind, value) in facts.items()
    )
    weights = b""
    for name, shape in shapes.items():
        sizes = b"".join(struct.pack("<Q", size) for size in shape)
        head += _text(name) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", 0, len(weights))
        weights += struct.pack("<f", 0.01) * (WIDTH if len(shape) == 1 else WIDTH * shape[1])
    path.write_bytes(head + bytes(-len(head) % 32) + weights)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(kind: int, value: Any) -> bytes:
    if kind == _TEXT:
        return _text(value)
    if kind == _LIST:
        part, parts = value
        return struct.pack("<IQ", part, len(parts)) + b"".join(_value(part, each) for each in parts)
    return struct.pack(_FORMATS[kind], value)
