"""The stages of one run, as plain functions: collect, triage, scope, write, index, archive.

Each takes the workspace and what the stage before it gave, and returns a value. Nothing here knows Prefect: a task
calls one of these functions, and so can a test or a script.
"""
