"""What counts as a confidence."""

from __future__ import annotations

import math
from typing import TypeGuard


def is_probability(value: object) -> TypeGuard[float]:
    """Whether `value` is a number from 0 to 1. True, False and NaN are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not math.isnan(value) and 0 <= value <= 1
