"""The report as data: what `lint-health.json` holds, and each list of it as a CSV file.

Lists are flat and sorted, worst first where there is a worst. Times are ISO 8601 in UTC, ages whole days.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, computed_field

from reflect.model import Value


class Knowledge(StrEnum):
    """How much is known of a project's wiki now."""

    LINTED = "linted"  # by the newest lint of the organisation
    LAST_KNOWN = "last-known"  # an earlier one; `reason` says why no newer one
    NOT_LINTED = "not-linted"  # never, which is not the same as no findings
    ASLEEP = "asleep"  # its memory is switched off, so nothing lints it


class Age(StrEnum):
    """How long a finding has been there; each reaches to the next."""

    DAY = "today"
    WEEK = "this week"
    MONTH = "this month"
    QUARTER = "this quarter"
    OLDER = "older"


class ProjectHealth(Value):
    """One project. Of one that was never linted every count is empty, and so are `lint` and `linted_at`.

    `appeared` and `gone` are since the lint before. `expectations_broken` of `expectations` are not met by all pages;
    both are empty where the pages were not put before them. `night` is what became of the project in the last night.
    """

    project: str
    state: Knowledge
    reason: str = ""
    tags: str = ""
    linted_at: datetime | None = None
    lint: str = ""
    errors: int | None = None
    warnings: int | None = None
    hints: int | None = None
    fixable: int | None = None
    appeared: int | None = None
    gone: int | None = None
    oldest_days: int | None = None
    pages: int | None = None
    expectations: int | None = None
    expectations_broken: int | None = None
    night: str = ""
    notes: str = ""


class FindingHealth(Value):
    """One finding that is open. `path` and `title` are empty where it is about the wiki as a whole."""

    project: str
    severity: str
    code: str
    path: str
    title: str
    line: int
    detail: str
    fixable: bool
    first_seen: datetime
    age_days: int


class CodeHealth(Value):
    """One check of lint that found something: how much, and in how many projects and pages."""

    code: str
    severity: str
    explanation: str
    fix: str
    findings: int
    projects: int
    pages: int
    oldest_days: int


class AgeHealth(Value):
    age: Age
    severity: str
    findings: int


class NightHealth(Value):
    """One lint of the organisation. `carried` of its projects were not linted then and count as they were before."""

    lint: str
    at: datetime
    projects: int
    carried: int
    pages: int
    errors: int
    warnings: int
    hints: int
    appeared: int
    gone: int


class CategoryHealth(Value):
    """One category: how many projects have active pages in it, how many ask for it and have none, and the pages."""

    category: str
    projects: int
    missing: int
    pages: int


class CoverageHealth(Value):
    """Active pages of one project in one category; 0 where its format asks for the category."""

    project: str
    category: str
    pages: int


class PagesHealth(Value):
    project: str
    status: str
    pages: int


class ExpectationHealth(Value):
    """One expectation on pages: in how many projects all pages meet it, in how many some do not, and those pages."""

    expectation: str
    expects: str
    passed: int
    broken: int
    pages: int


class BrokenHealth(Value):
    """One page that breaks one expectation."""

    project: str
    expectation: str
    path: str
    reason: str


class HealthReport(Value):
    """Everything the report says."""

    format: Literal["reflect/lint-health"] = "reflect/lint-health"
    version: Literal[1] = 1
    organisation: str
    made_at: datetime
    projects: tuple[ProjectHealth, ...] = ()
    codes: tuple[CodeHealth, ...] = ()
    findings: tuple[FindingHealth, ...] = ()
    ages: tuple[AgeHealth, ...] = ()
    nights: tuple[NightHealth, ...] = ()
    categories: tuple[CategoryHealth, ...] = ()
    coverage: tuple[CoverageHealth, ...] = ()
    pages: tuple[PagesHealth, ...] = ()
    expectations: tuple[ExpectationHealth, ...] = ()
    broken: tuple[BrokenHealth, ...] = Field(default=(), description="Pages that break an expectation.")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def totals(self) -> dict[str, int]:
        """How many projects there are of each kind, and the sums over those of which anything is known."""
        known = [one for one in self.projects if one.pages is not None]
        states = {state.value.replace("-", "_"): self.counted(state) for state in Knowledge}
        sums = {
            name: sum(getattr(one, name) or 0 for one in known) for name in ("pages", "errors", "warnings", "hints")
        }
        return {"projects": len(self.projects), **states, **sums, "fixable": sum(one.fixable or 0 for one in known)}

    def counted(self, state: Knowledge) -> int:
        return sum(one.state is state for one in self.projects)

    @property
    def headline(self) -> str:
        """The report in one sentence."""
        if not self.projects:
            return "The organisation has no projects."
        totals = self.totals
        told = totals["linted"] + totals["last_known"]
        if not told:
            return "None of the projects has been linted yet."
        said = f"{told} wikis, {totals['errors']} errors, {totals['warnings']} warnings, {totals['hints']} hints"
        rest = {
            "last_known": "could not be read by the last lint",
            "not_linted": "never linted",
            "asleep": "switched off",
        }
        return said + "".join(f"; {totals[key]} {words}" for key, words in rest.items() if totals[key])

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


LISTS = tuple(name for name, field in HealthReport.model_fields.items() if "tuple" in str(field.annotation))
"""The names of the report's lists, each of which is also a CSV file."""
