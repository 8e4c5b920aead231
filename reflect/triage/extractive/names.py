"""Names in code that a sentence mentions: what makes a statement specific, and what two statements may share."""

from __future__ import annotations

import re

_NAME = re.compile(
    r"""`(?P<ticked>[^`\n]{2,80})`
    |(?<![\w/.-])(?P<path>(?:\.{0,2}/|~/)?(?:[\w.@-]+/)+[\w.@*-]*\w|\.[a-z][\w-]*(?:/[\w.*-]+)+|[\w-]+\.(?:py|pyi|js|jsx|ts|tsx|mjs|go
        |rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|sql|toml|ya?ml|json|jsonl|md|rst|txt|lock|cfg|ini|env|proto
        |html|css|scss|tf|gradle|xml|csv|parquet|log|service|timer|db))(?![\w-])
    |(?<![\w-])(?P<flag>--?[a-zA-Z][\w-]{1,40})(?![\w])
    |(?<![\w.])(?P<constant>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b
    |(?<![\w.])(?P<call>[A-Za-z_][\w.]*\(\))
    |(?<![\w./])(?P<dotted>[a-zA-Z_]\w+(?:\.[a-zA-Z_]\w+)+)(?![\w(])
    |(?<![\w.])(?P<snake>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b
    |(?<![\w.])(?P<camel>[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]+)+)\b
    |(?<![\w.])(?P<hidden>\.[a-z][\w-]{2,})\b
    """,
    re.VERBOSE,
)
_NOT_NAMES = frozenset(
    {"e.g", "i.e", "a.k.a", "and/or", "either/or", "he/she", "yes/no", "on/off", "github", "i/o", "w/o"}
)
_ALTERNATIVES = re.compile(r"[A-Za-z]+/[A-Za-z]+|(?:[A-Z][a-z]+/)+[A-Z][a-z]+")
"""`read/write`, `Read/Glob/Grep`: words set side by side, not a path."""

_SPELLED = frozenset(
    {"GitHub", "GitLab", "JavaScript", "TypeScript", "PostgreSQL", "YouTube", "OpenAI", "MacOS", "iOS"}
)


def names_in(text: str) -> tuple[str, ...]:
    """The distinct names in code in `text`, in order, without their backticks."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        name = match.group(match.lastgroup or 0).strip().rstrip(".,;:")
        if match.lastgroup == "path" and _ALTERNATIVES.fullmatch(name):
            continue
        if len(name) > 1 and name.casefold() not in _NOT_NAMES and name not in _SPELLED and not name.startswith("http"):
            found[name] = None
    return tuple(found)
