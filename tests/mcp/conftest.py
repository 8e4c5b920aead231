"""A repository whose memory is served, and the SDK's own client beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import command_line_in
from tests.search.conftest import Searched
from tests.search.conftest import _no_outside as _no_outside
from tests.search.conftest import make as make
from tests.search.conftest import shop as shop

Talk = Callable[[Client], Awaitable[None]]


def parameters(searched: Searched) -> StdioServerParameters:
    """How an agent starts the server: the command a person has, in a process of its own."""
    line = command_line_in(searched.settings.state, server=None)
    return StdioServerParameters(
        command=line.command[0], args=[*line.command[1:], "mcp", "--repo", str(searched.root)], env=line.environment
    )


def talk(searched: Searched, said: Talk) -> None:
    """Start the server, shake hands, let `said` ask, and end it."""

    async def conversation() -> None:
        async with Client(stdio_client(parameters(searched))) as client:
            await said(client)

    anyio.run(conversation)


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool that must not fail."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """The one sentence of a tool that must fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error and result.structured_content is None
    (content,) = result.content
    text: str = content.text  # type: ignore[union-attr]
    assert text.endswith(".") and "\n" not in text
    return text


@pytest.fixture
def two(make: Callable[[str], Searched]) -> tuple[Searched, Searched]:
    return make("shop"), make("store")
