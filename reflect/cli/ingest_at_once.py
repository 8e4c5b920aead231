"""`reflect ingest` on a repository in which nothing happened, answered before anything heavy is imported."""

from __future__ import annotations

from pathlib import Path

from reflect.freshness import find_root, fresh, nothing_new


def answered_at_once(arguments: list[str]) -> bool:
    """Whether "nothing new" was the answer to `reflect ingest` with these arguments, and has been given."""
    where, engine, as_json = Path.cwd(), None, False
    rest = iter(arguments)
    for argument in rest:
        match argument:
            case "--json":
                as_json = True
            case "--force":
                continue
            case "--repo" if value := next(rest, None):
                where = Path(value)
            case "--engine" if value := next(rest, None):
                engine = value
            case _:
                return False
    root = find_root(where)
    last = fresh(root, engine) if root is not None else None
    if last is None:
        return False
    if as_json:
        import json

        print(json.dumps(nothing_new(last)))
    else:
        print(f"Nothing new in {last.project} since {last.timestamp}.")
    return True
