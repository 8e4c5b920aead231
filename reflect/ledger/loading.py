"""Reading a value back that this version or another one wrote."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from reflect.errors import LedgerError
from reflect.ledger.text import load

_V = TypeVar("_V", bound=BaseModel)


def loaded(kind: type[_V], name: str, payload: str) -> _V:
    """The value in `payload`. Raises LedgerError, naming it, where this version cannot read it."""
    try:
        return load(kind, payload)
    except ValidationError as error:
        raise LedgerError(
            f"The ledger's {kind.__name__} {name!r} was written by another version and cannot be read "
            f"({error.errors()[0]['msg']}); it was left as it is; update reflect-wiki."
        ) from error
