"""Day by day: which sessions began, which commits were made, and which pages changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from reflect.model import Value
from reflect.overview.sessions import list_sessions
from reflect.overview.visible import Visible
from reflect.wiki.log import changes_of
from reflect.workspace import Workspace


class Happened(Value):
    """One thing: a session or a commit by id and title, a page by path and what was done to it."""

    id: str
    title: str


class Day(Value):
    """One day in UTC. What changed in the wiki stands at the day of the newest evidence it came from."""

    day: date
    sessions: tuple[Happened, ...] = ()
    commits: tuple[Happened, ...] = ()
    pages: tuple[Happened, ...] = ()


class Timeline(Value):
    """The days from `since` to `until` on which anything happened, newest first. `undated` sessions are in none."""

    since: date
    until: date
    days: tuple[Day, ...]
    undated: int


def timeline(workspace: Workspace, days: int) -> Timeline:
    """The last `days` days, today included, as far as the project may see them."""
    seen = Visible.of(workspace)
    until = workspace.settings.now().date()
    since = until - timedelta(days=min(days, until.toordinal()) - 1)
    sessions = list_sessions(workspace, seen).sessions
    found: dict[str, dict[date, list[Happened]]] = {
        "sessions": _by_day((one.at.date(), one.id, one.title) for one in reversed(sessions) if one.at),
        "commits": _by_day(_commits(workspace, seen)),
        "pages": _by_day(_changes(workspace, seen)),
    }
    happened = {day for by_day in found.values() for day in by_day if since <= day <= until}
    listed = [
        Day(day=day, **{kind: tuple(by_day.get(day, ())) for kind, by_day in found.items()})
        for day in sorted(happened, reverse=True)
    ]
    return Timeline(since=since, until=until, days=tuple(listed), undated=sum(one.at is None for one in sessions))


def _by_day(rows: Iterator[tuple[date, str, str]]) -> dict[date, list[Happened]]:
    days: dict[date, list[Happened]] = defaultdict(list)
    for day, name, title in rows:
        days[day].append(Happened(id=name, title=title))
    return days


def _commits(workspace: Workspace, seen: Visible) -> Iterator[tuple[date, str, str]]:
    """The commits of the default branch that may be seen, oldest first; the product's own are no news."""
    if not workspace.default.tips:
        return
    asked = "".join(f"{tip}\n" for tip in workspace.default.tips).encode()
    said = workspace.git.store("rev-list", "--timestamp", "--reverse", "--stdin", "--ignore-missing", input=asked)
    for line in said.decode().splitlines():
        seconds, _, sha = line.partition(" ")
        if sha in seen.commits:
            yield datetime.fromtimestamp(int(seconds), UTC).date(), sha, seen.commits[sha]


def _changes(workspace: Workspace, seen: Visible) -> Iterator[tuple[date, str, str]]:
    for day, done, path in changes_of(workspace.log_text()):
        if path in seen.own_paths:
            yield day, path, done
