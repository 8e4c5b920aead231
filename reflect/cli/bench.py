"""The bench that a command about the queue works at: one repository's, or the whole organisation's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reflect.errors import ConfigurationError, RepositoryError
from reflect.evidence.git import Git
from reflect.organisation.estate import Estate
from reflect.review.bench import Bench, git_user
from reflect.settings import Settings
from reflect.workspace import Workspace


@contextmanager
def bench_for(repo: Path, organisation: Path | None, by: str | None, *, deciding: bool = True) -> Iterator[Bench]:
    """The bench of the organisation that a file or REFLECT_ORGANISATION names, else of the repository at `repo`.

    `by` is who decides, git's user where it is None; nobody has to be named for looking alone.
    """
    file = organisation or Settings.of_environment().organisation
    if file is None:
        workspace = Workspace.open(repo)
        name = by or (git_user(workspace.git) if deciding else "")
        with workspace.ledger() as ledger:
            yield Bench.of_repository(workspace, ledger, name)
        return
    estate = Estate.load(file)
    name = by or (_user_at(repo) if deciding else "")
    with estate.bench(name) as bench:
        yield bench


def _user_at(repo: Path) -> str:
    """Git's user in the repository at `repo`, which need be none of the organisation's."""
    try:
        return git_user(Git.open(repo))
    except RepositoryError as error:
        raise ConfigurationError(
            f"Nobody is named as the one who decides, and {repo.absolute()} is no repository to ask; nothing was "
            "changed; pass `--by NAME`."
        ) from error
