"""Reads the transcripts that coding agents write, one adapter per agent, into turns that say who spoke, when, and what
third-party content had entered by then. A transcript is known by its content alone: what the metadata around it claims
about the agent has been wrong in real repositories.
"""
