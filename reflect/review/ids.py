"""What a person typed for an id: the whole of it, or its first digits."""

from __future__ import annotations

from collections.abc import Iterable

from reflect.errors import ConfigurationError


def whole_id(ids: Iterable[str], typed: str, what: str, listing: str) -> str:
    """The one of `ids` that is `typed`, or else the only one that begins with it.

    Raises ConfigurationError where none does, or several; `what` they are and the command `listing` them are named.
    """
    found = [one for one in ids if typed and one.startswith(typed)]
    if typed in found:
        return typed
    if len(found) != 1:
        why = f"{len(found)} {what}s begin with {typed!r}" if found else f"No {what} is called {typed!r}"
        raise ConfigurationError(f"{why}; nothing was changed; `{listing}` names them.")
    return found[0]
