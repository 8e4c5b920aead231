"""The checks, a module per kind of fault. Each is a function from a wiki, and what it needs of git, to findings."""
