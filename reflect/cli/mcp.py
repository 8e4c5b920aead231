"""`reflect mcp`: the memory of a repository for agents."""

from __future__ import annotations

from reflect.cli.options import HERE, Repository


def mcp(repo: Repository = HERE) -> int:
    """Serve search, pages, status and lint to an agent over the Model Context Protocol, on standard input and output.

    An agent starts it: `claude mcp add reflect -- reflect mcp`; docs/mcp.md has others. It reads and changes nothing.
    """
    from reflect.mcp.server import serve

    serve(repo)
    return 0
