"""The skill that tells agents how to use the wiki: put in place on request, brought up to date without losing an edit.

The file ends with a comment that holds the digest of what stands above it. So an edit can be told from an older version
without keeping every version there ever was.
"""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum
from importlib import resources
from pathlib import Path

from reflect.errors import ConfigurationError
from reflect.wiki.files import put_whole, read_regular, target_of

SKILL = ".claude/skills/reflect/SKILL.md"
BESIDE = f"{SKILL}.new"
"""Where the newer version is put while the one in place has edits."""

_MARK = re.compile(r"\n<!-- reflect:([0-9a-f]{64}) -->\n\Z")


class Upgrade(StrEnum):
    """What became of one file."""

    NOT_INSTALLED = "not installed"
    UP_TO_DATE = "up to date"
    REPLACED = "replaced"
    KEPT = "kept with its edits"


def offer_skill(root: Path) -> list[str]:
    """Put the skill into the repository at `root` where there is none; the files made, by name."""
    file = target_of(root, SKILL)
    if file.exists():
        return []
    _put(file, _marked(_text()))
    return [SKILL]


def upgrade_skill(root: Path) -> Upgrade:
    """Bring an installed skill up to date; one with edits stays, and the newer one is put beside it."""
    file, beside = target_of(root, SKILL), target_of(root, BESIDE)
    if not file.exists():
        return Upgrade.NOT_INSTALLED
    newest = _marked(_text())
    try:
        stands = read_regular(file).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{file} cannot be read ({error}); it was left as it is; remove it and run `reflect init --skill`."
        ) from error
    if stands == newest:
        beside.unlink(missing_ok=True)
        return Upgrade.UP_TO_DATE
    if _is_untouched(stands):
        _put(file, newest)
        beside.unlink(missing_ok=True)
        return Upgrade.REPLACED
    _put(beside, newest)
    return Upgrade.KEPT


def _text() -> str:
    return resources.files("reflect.cli").joinpath("skill.md").read_text(encoding="utf-8")


def _marked(text: str) -> str:
    return f"{text}\n<!-- reflect:{_digest(text)} -->\n"


def _is_untouched(stands: str) -> bool:
    """Whether some version of this product wrote `stands` to the last letter."""
    mark = _MARK.search(stands)
    return mark is not None and mark[1] == _digest(stands[: mark.start()])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _put(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        put_whole(file, text)
    except OSError as error:
        raise ConfigurationError(
            f"{file} could not be written ({error.strerror}); what stood there stands; make its folder writable."
        ) from error
