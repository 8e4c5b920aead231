"""Write, index, archive: the pages below `.reflect/wiki/`, merged and landed so that no line a person wrote and no run
is lost. `docs/page-format.md` is the contract of the files."""
