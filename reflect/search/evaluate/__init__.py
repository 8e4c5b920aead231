"""Measuring search: whether it finds what it should, and whether it shows what it must not."""
