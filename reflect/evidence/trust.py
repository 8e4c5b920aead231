"""Whose commits count as the organisation's own words."""

from __future__ import annotations

from reflect.configuration import Config

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


class Trust:
    """Decides by the configured names. Where none are named, everything merged to the default branch is trusted but
    for the bots that quote strangers. A bot named in the configuration is never trusted."""

    def __init__(self, config: Config) -> None:
        self._trusted = _folded(config.trusted_authors)
        self._bots = _folded(config.bot_authors) | UPDATE_BOTS

    def trusts(self, author: str, email: str) -> bool:
        names = _folded((author, email, email[email.rfind("@") :]))
        if names & self._bots:
            return False
        return not self._trusted or bool(names & self._trusted)


def _folded(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in names if name.strip())
