"""A small organisation, Harbour Goods, to try the product on: three repositories and what was said while they grew.

Nothing in it was recorded; it was written for this project. The same call writes the same bytes and the same commit ids
on every machine.
"""

from __future__ import annotations

from pathlib import Path

from examples import infra, payments_api, storefront

REPOSITORIES = (payments_api, storefront, infra)

NAMES = tuple(repository.NAME for repository in REPOSITORIES)


def build(folder: Path) -> tuple[Path, ...]:
    """Write the repositories below `folder` as they stand before the first night; their paths, in a fixed order."""
    paths = _paths(folder)
    for repository, path in zip(REPOSITORIES, paths, strict=True):
        repository.first_night(path)
    return paths


def next_night(folder: Path) -> tuple[Path, ...]:
    """Add the working days after the first night to what `build` wrote in `folder`."""
    paths = _paths(folder)
    for repository, path in zip(REPOSITORIES, paths, strict=True):
        repository.second_night(path)
    return paths


def _paths(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in NAMES)
