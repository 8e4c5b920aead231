"""Whether published pages are worth reading: judged blind, by two judges who do not speak with each other.

`python -m benchmarks.usefulness sheet` makes what a judge reads, `python -m benchmarks.usefulness score` reads what
two of them wrote. The rubric is `rubric.md`, beside this file.
"""
