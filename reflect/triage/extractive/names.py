"""Names in code that a sentence mentions: what makes a statement specific, and what two statements may share."""

from __future__ import annotations

import re

_TICKED = re.compile(r"`([^`\n]{2,80})`")
_ENDINGS = (
    "py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|sql|toml|ya?ml|json|jsonl|md|rst|txt"
    "|lock|cfg|ini|env|proto|html|css|scss|tf|gradle|xml|csv|parquet|log|service|timer|db"
)
_NAME = re.compile(
    rf"""(?:\.{{0,2}}/|~/|@)?(?:[\w.@-]+/)+[\w.@*-]*       # a path
    |\.[a-z][\w./*-]+                                  # a hidden file or folder
    |[\w-]+\.(?:{_ENDINGS})                            # a file
    |--?[a-zA-Z][\w-]{{1,40}}(?:=\S*)?                  # a flag
    |[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:=\S*)?            # a constant
    |[A-Za-z_][\w.]*\(\)                               # a call
    |[a-zA-Z_]\w+(?:\.[a-zA-Z_]\w+)+                   # a dotted name
    |_?[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?:=\S*)?          # snake_case
    |[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]+)+ # camelCase
    """,
    re.VERBOSE,
)
_ALTERNATIVES = re.compile(r"[A-Za-z]+/[A-Za-z]+|(?:[A-Z][a-z]+/)+[A-Z][a-z]+")
"""`read/write`, `Read/Glob/Grep`: words set side by side, not a path."""

_AROUND = "\"'“”‘’()[]{}<>,;:!?"
_NOT_NAMES = frozenset({"e.g", "i.e", "a.k.a", "github", "n.b", "w.r.t"})
_SPELLED = frozenset(
    {"GitHub", "GitLab", "JavaScript", "TypeScript", "PostgreSQL", "YouTube", "OpenAI", "MacOS", "iOS"}
)


def names_in(text: str) -> tuple[str, ...]:
    """The distinct names in code in `text`, without their backticks: those in backticks first, each group in order."""
    found: dict[str, None] = {}
    if "`" in text:
        found.update((match.group(1).strip(), None) for match in _TICKED.finditer(text))
        text = _TICKED.sub(" ", text)
    for word in text.split():
        if word.isalpha() and (word.islower() or word[1:].islower()):
            continue
        name = word.strip(_AROUND).rstrip(".")
        if name.isalpha() and (name.islower() or name[1:].islower()) and "()" not in word:
            continue
        if _is_name(name + "()" if word.rstrip(".,;:").endswith("()") else name):
            found[name] = None
    return tuple(name for name in found if len(name) > 1)


def _is_name(word: str) -> bool:
    if word.casefold() in _NOT_NAMES or word in _SPELLED or _ALTERNATIVES.fullmatch(word):
        return False
    return _NAME.fullmatch(word) is not None
