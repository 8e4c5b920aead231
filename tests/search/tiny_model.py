"""A tiny embedding model with random weights: it makes `embed` and vector search run for real, and means nothing."""

from __future__ import annotations

import string
from pathlib import Path

import gguf
import numpy as np

WIDTH, INNER, CONTEXT, HEADS = 32, 64, 2048, 2
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_tiny_model(file: Path) -> Path:
    """Write a BERT of one layer as GGUF, about 0.3 MB."""
    characters = string.ascii_lowercase + string.digits + string.punctuation
    tokens = [*_SPECIAL, *(f"\u2581{char}" for char in characters), *characters]
    writer = gguf.GGUFWriter(str(file), "bert")
    _describe(writer, tokens)
    _weights(writer, len(tokens))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _describe(writer: gguf.GGUFWriter, tokens: list[str]) -> None:
    writer.add_name("tiny-random-bert")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list([token.encode() for token in tokens])
    kinds = [gguf.TokenType.CONTROL if token in _SPECIAL else gguf.TokenType.NORMAL for token in tokens]
    writer.add_token_types(kinds)
    writer.add_token_type_count(2)
    writer.add_pad_token_id(0)
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_uint32("tokenizer.ggml.cls_token_id", 2)
    writer.add_eos_token_id(3)
    writer.add_sep_token_id(3)
    writer.add_mask_token_id(4)


def _weights(writer: gguf.GGUFWriter, vocabulary: int) -> None:
    random = np.random.default_rng(0)

    def tensor(name: str, *shape: int, ones: bool = False) -> None:
        values = np.ones(shape) if ones else random.normal(0, 0.3, shape)
        writer.add_tensor(name, values.astype(np.float32))

    def norm(name: str) -> None:
        tensor(f"{name}.weight", WIDTH, ones=True)
        tensor(f"{name}.bias", WIDTH)

    tensor("token_embd.weight", vocabulary, WIDTH)
    tensor("position_embd.weight", CONTEXT, WIDTH)
    tensor("token_types.weight", 2, WIDTH)
    norm("token_embd_norm")
    shapes = {"ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"):
        rows, columns = shapes.get(name, (WIDTH, WIDTH))
        tensor(f"blk.0.{name}.weight", rows, columns)
        tensor(f"blk.0.{name}.bias", rows)
    norm("blk.0.attn_output_norm")
    norm("blk.0.layer_output_norm")
