"""Whose commits count as the organisation's own words."""

from __future__ import annotations

from collections.abc import Iterable

from reflect.configuration import Config
from reflect.evidence.commits import RawCommit

UPDATE_BOTS = frozenset(
    {
        "dependabot[bot]",
        "dependabot-preview[bot]",
        "renovate[bot]",
        "renovate bot",
        "mend renovate",
        "greenkeeper[bot]",
        "snyk-bot",
        "depfu[bot]",
        "pyup-bot",
    }
)
"""Bots whose messages quote the release notes of other people's packages."""

AGENTS = frozenset(
    {
        "noreply@anthropic.com",
        "noreply@openai.com",
        "cursoragent@cursor.com",
        "198982749+copilot@users.noreply.github.com",
        "218195315+gemini-cli@users.noreply.github.com",
        "175728472+copilot@users.noreply.github.com",
    }
)
"""Addresses under which coding agents sign beside the person whose commit it is."""


class Trust:
    """Decides by the configured names. Where none are named, everything merged to the default branch is trusted but
    for the bots that quote strangers. A bot named in the configuration is never trusted.

    An entry with an `@` is an address or a domain and is compared with addresses alone: a name is free text.
    """

    def __init__(self, config: Config) -> None:
        self._trusted = _folded(config.trusted_authors)
        self._bots = _folded(config.bot_authors) | UPDATE_BOTS

    def trusts(self, author: str, email: str) -> bool:
        names = _folded((author, email, email[email.rfind("@") :]))
        if names & self._bots:
            return False
        stated = {name for name in names if "@" not in name or name in email.casefold()}
        return not self._trusted or bool(stated & self._trusted)

    def trusts_words(self, commit: RawCommit, merged: Iterable[RawCommit] = ()) -> bool:
        """Whether the message of `commit` holds the words of trusted people alone.

        A merge repeats the title of what it brought in (`merged`), a squash the messages of everybody who is named as a
        co-author: whoever pressed the button did not write those.
        """
        if not self.trusts(commit.author, commit.email):
            return False
        if not all(self.trusts(one.author, one.email) for one in merged):
            return False
        others = commit.message.co_authors if commit.message.is_bundle else ()
        return all(email.casefold() in AGENTS or self.trusts(name, email) for name, email in others)


def _folded(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in names if name.strip())
