"""The organisation that is killed: five repositories with sixty checkpoints, made by rule and the same every time."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import yaml

from examples.history import History, Person, Talk
from examples.sessions import START, GitRepository

REPOSITORIES = ("ledger-core", "mail-relay", "search-edge", "stock-feed", "tax-rules")
CHECKPOINTS = 12
BEFORE = 3
"""Checkpoints of each repository that a first night has compiled: later nights have pages to change and to archive."""

ADA = Person("Ada Example", "ada@example.com")

_TOPICS = (
    "retry queue", "invoice export", "session cache", "rate limiter", "audit trail", "price import",
    "login form", "batch worker", "health probe", "webhook relay", "schema migration", "report mailer",
)  # fmt: skip
_CORRECTIONS = (
    "no, never call the {topic} inside a transaction, the lock is held until the mail server answers",
    "please always give the {topic} a timeout in seconds, unlimited waits took the site down in March",
    "we decided to keep the {topic} in PostgreSQL instead of Redis, one thing less to operate",
    "don't retry the {topic} on a 4xx, it never gets better by trying again",
)
_REASONS = (
    "The {topic} was emptied twice because two workers read the same row.",
    "It turns out the {topic} silently dropped every row without an id.",
    "The {topic} no longer shares its connection, because a slow reader blocked all writers.",
)


def build(folder: Path) -> Path:
    """The organisation as it stands before its first night; the path of its file. `folder` is empty or not there."""
    for number, name in enumerate(REPOSITORIES):
        made = GitRepository.create(folder / name)
        made.commit(f"feat: begin {name}", {"README.md": f"# {name}\n"}, START - timedelta(days=1))
        if _mode(number) == "push":
            bare = folder / f"{name}.git"
            made.git("init", "-q", "--bare", "-b", "main", str(bare))
            made.git("remote", "add", "origin", str(bare))
            made.git("push", "-q", "origin", "main")
        _grow(folder, name, 0, BEFORE)
    return _described(folder)


def grow_on(folder: Path) -> None:
    """Everything that happens after the first night."""
    for name in REPOSITORIES:
        _grow(folder, name, BEFORE, CHECKPOINTS)


def _grow(folder: Path, name: str, first: int, last: int) -> None:
    repository = GitRepository(folder / name)
    number = REPOSITORIES.index(name)
    history = History(name, repository, refs=number == 2)
    for one in range(first, last):
        topic = f"{_TOPICS[one]} of {name.split('-')[0]}"
        at = START + timedelta(days=one, hours=number)
        talk = ADA.claude(name, f"{name} {one}", f"{at:%Y-%m-%d %H:%M}")
        talk.prompt(f"Look at the {topic}.").reply(f"I changed the {topic}.")
        talk.prompt(_CORRECTIONS[(one + number) % len(_CORRECTIONS)].format(topic=topic)).reply("Done.")
        checkpoint = history.checkpoint(Talk(talk, [f"src/{one}.py"]))
        history.commit(f"{at + timedelta(hours=1):%Y-%m-%d %H:%M}", ADA, _message(one, topic),
                       {f"src/{one}.py": f"n = {one}"}, checkpoint)  # fmt: skip
    if _mode(number) == "push":
        repository.git("push", "-q", "origin", "main", "entire/checkpoints/v1")


def _message(one: int, topic: str) -> str:
    """Open work is left by the first checkpoints and closed by later ones, so that pages are resolved and archived."""
    reason = _REASONS[one % len(_REASONS)].format(topic=topic)
    if one < BEFORE:
        return f"fix: mend the {topic}\n\n{reason}\n\nStill open: the {topic} has no alarm yet."
    if one == CHECKPOINTS - 1:
        opened = topic.replace(_TOPICS[one], _TOPICS[0])
        return f"feat: add the alarm of the {opened}\n\nFixed: the {opened} has its alarm now."
    return f"fix: mend the {topic}\n\n{reason}"


def _mode(number: int) -> str:
    return ("commit", "commit", "none", "push", "commit")[number]


def _described(folder: Path) -> Path:
    projects = [
        {"id": name, "repository": str(folder / name), "publish": {"mode": _mode(number)}}
        for number, name in enumerate(REPOSITORIES)
    ]
    described = {
        "name": "grown",
        "home": str(folder / "home"),
        "state_dir": str(folder / "state"),
        "nightly": {"at_once": 2},
        "projects": projects,
    }
    file = folder / "organisation.yaml"
    file.write_text(yaml.safe_dump(described), encoding="utf-8")
    return file
