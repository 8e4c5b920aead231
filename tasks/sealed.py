"""Handing a large value to a task without Prefect walking through it."""

from __future__ import annotations

from typing import TypeVar, cast

from prefect.utilities.annotations import quote

T = TypeVar("T")


def sealed(value: T) -> T:
    """`value`, marked as nothing for Prefect to look into; the task itself gets the value.

    Prefect searches every argument for futures: four seconds for a hundred thousand turns, two milliseconds sealed.
    """
    return cast(T, quote(value))
