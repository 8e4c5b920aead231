"""Text inside the message contents of agents, which are texts, blocks, or lists of either."""

from __future__ import annotations

from typing import Any


def blocks(content: Any) -> list[dict[str, Any]]:
    """`content` as blocks; a bare text is one text block, anything else that is no object is left out."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    for block in content:
        if not isinstance(block, dict):
            break
    else:
        return content
    found = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return [block for block in found if isinstance(block, dict)]


def joined(content: Any) -> str:
    """The text of all blocks, a line each."""
    return "\n".join(block["text"] for block in blocks(content) if isinstance(block.get("text"), str))


def text_of(value: Any) -> str:
    """`value` where it is a text, else nothing."""
    return value if isinstance(value, str) else ""
