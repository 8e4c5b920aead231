"""Prefect flows. Each reads like a table of contents."""
