"""A repository's history replayed night by night: does the wiki stay calm, and does a night stay short?

`python -m benchmarks.over_time REPOSITORY` runs the nights and prints a line for each; `--picture` draws them.
"""
