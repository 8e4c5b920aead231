"""Compiles coding-agent sessions and git history into a wiki inside each repository."""

__version__ = "0.1.0"
