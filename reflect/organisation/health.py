"""The lint-health report of an organisation: made from the ledger alone, and kept beside it for the operator."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from reflect.ledger.recording import instant
from reflect.model import digest
from reflect.organisation.estate import Estate

if TYPE_CHECKING:
    from reflect.health.document import HealthReport

SHOWN = timedelta(days=120)
"""How far back the report looks night by night; the ages of findings reach back to when they were first seen."""


def health_of(estate: Estate) -> HealthReport:
    """The report on every project of the organisation. Reads the ledger, no repository; pandas is loaded here."""
    from reflect.health.frames import Member, Subject, report_of

    now = estate.settings.now()
    with estate.ledger() as ledger:
        history = ledger.lint_history(estate.projects, instant(now - SHOWN))
        nights = ledger.recent_nights(estate.name, 1)
        rows = ledger.project_nights(estate.name, nights[0].night_id) if nights else ()
    became = {row.project_id: row.state for row in rows}
    members = (
        Member(member.id, member.memory_enabled, tuple(member.tags), became.get(member.id, ""))
        for member in estate.organisation.projects
    )
    return report_of(Subject(estate.name, tuple(members), now, history))


def reports_folder(estate: Estate) -> Path:
    """Where the report of the organisation is kept when nobody names another place; each organisation has its own."""
    return estate.settings.state / "reports" / digest(estate.name)
