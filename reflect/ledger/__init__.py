"""Durable state: what each run settled, what waits, and what was learned, always keyed by project.

SQLite in the user's state folder by default, PostgreSQL where an organisation names one. The wiki is the truth and
this is its memory: what a run wrote counts only while that run stands in the wiki's log, and a lost ledger is rebuilt
from the wiki's own sources.
"""
