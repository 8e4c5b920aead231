"""Text inside the message contents of agents, which are texts, blocks, or lists of either."""

from __future__ import annotations

from typing import Any


def blocks(content: Any) -> list[dict[str, Any]]:
    """`content` as blocks; a bare text is one text block, anything else that is no object is left out."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    found: list[dict[str, Any]] = []
    for block in content:
        if isinstance(block, dict):
            found.append(block)
        elif isinstance(block, str):
            found.append({"type": "text", "text": block})
    return found


def joined(content: Any) -> str:
    """The text of all blocks, a line each."""
    return "\n".join(block["text"] for block in blocks(content) if isinstance(block.get("text"), str))


def text_of(value: Any) -> str:
    """`value` where it is a text, else nothing."""
    return value if isinstance(value, str) else ""
