"""From the ledger's history to the report: every list of it is a frame, sorted worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import pandas as pd

from reflect.evidence.redaction import Redactor
from reflect.health import document
from reflect.health.document import Age, HealthReport, Knowledge
from reflect.ledger.health import CountRow, LintHistory, LintRow, LintState
from reflect.lint.catalogue import CHECKS
from reflect.lint.finding import SEVEREST_FIRST
from reflect.model import Value

_V = TypeVar("_V", bound=Value)

_SEVERITIES = tuple(severity.value for severity in SEVEREST_FIRST)
_COUNTS = ("pages", "errors", "warnings", "hints")
_AGES = ((1, Age.DAY), (7, Age.WEEK), (30, Age.MONTH), (90, Age.QUARTER))
_CHECKS = {check.code: check for check in CHECKS}


@dataclass(frozen=True, slots=True)
class Member:
    """What the organisation says of a project; `night` is what became of it in the last night, empty for none."""

    project: str
    is_awake: bool = True
    tags: tuple[str, ...] = ()
    night: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a report is made from. The history is that of `members` and of nobody else."""

    organisation: str
    members: tuple[Member, ...]
    made_at: datetime
    history: LintHistory = field(default_factory=LintHistory)

    @property
    def awake(self) -> frozenset[str]:
        """The projects that count: what is known of one that was put to sleep is not told as if it were so now."""
        return frozenset(member.project for member in self.members if member.is_awake)

    @property
    def linted(self) -> Iterator[tuple[str, LintRow]]:
        """The newest lint of each project that counts and was ever linted, in the order of the members."""
        told = self.awake & self.history.linted.keys()
        return ((one.project, self.history.linted[one.project]) for one in self.members if one.project in told)


def report_of(subject: Subject) -> HealthReport:
    """The report on `subject`, without what looks like a secret."""
    findings = _findings(subject)
    awake = subject.awake
    counts = _counts(row for row in subject.history.counts if row.project_id in awake)
    coverage = _per_project(subject, "category", lambda lint: lint.by_category)
    pages = _per_project(subject, "status", lambda lint: lint.by_status)
    expected = _expected(subject)
    return HealthReport(
        organisation=subject.organisation,
        made_at=subject.made_at,
        projects=_rows(document.ProjectHealth, _projects(subject, findings, counts)),
        codes=_rows(document.CodeHealth, _codes(findings)),
        findings=_rows(document.FindingHealth, findings),
        ages=_rows(document.AgeHealth, _ages(findings)),
        nights=_rows(document.NightHealth, _nights(counts)),
        categories=_rows(document.CategoryHealth, _categories(coverage)),
        coverage=_rows(document.CoverageHealth, coverage),
        pages=_rows(document.PagesHealth, pages),
        expectations=_rows(document.ExpectationHealth, _expectations(expected)),
        broken=_rows(document.BrokenHealth, expected[expected["path"] != ""]),
    )


def tables(report: HealthReport) -> Iterator[tuple[str, str]]:
    """Each list of the report by its name, as CSV that a spreadsheet reads as text and never as a formula."""
    told = report.as_json()
    for name in document.LISTS:
        kind = _kind_of(name)
        frame = pd.DataFrame(told[name], columns=list(kind.model_fields))
        yield name, frame.map(_no_formula).to_csv(index=False, lineterminator="\n")


def _findings(subject: Subject) -> pd.DataFrame:
    """Everything that is open, worst and oldest first, with no project that is asleep in it."""
    awake = subject.awake
    redact = Redactor().redact
    rows = [
        {"project": row.project_id, "first_seen": row.first_seen, **_clean(asdict(row.found), redact)}
        for row in subject.history.findings
        if row.project_id in awake
    ]
    frame = _frame(document.FindingHealth, rows)
    frame["first_seen"] = pd.to_datetime(frame["first_seen"], utc=True, format="ISO8601")
    frame["age_days"] = (pd.Timestamp(subject.made_at) - frame["first_seen"]).dt.days.clip(lower=0)
    frame["severity"] = pd.Categorical(frame["severity"], _SEVERITIES, ordered=True)
    return frame.sort_values(["severity", "age_days", "project", "path", "line"], ascending=[True, False, *[True] * 3])


def _clean(told: dict[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    return told | {key: redact(told[key]) for key in ("path", "title", "detail")}


def _counts(rows: Iterable[CountRow]) -> pd.DataFrame:
    frame = pd.DataFrame([asdict(row) for row in rows], columns=list(CountRow.__dataclass_fields__))
    frame["linted_at"] = pd.to_datetime(frame["linted_at"], utc=True, format="ISO8601")
    return frame


def _projects(subject: Subject, findings: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """One row for every member, worst first; what nothing is known of comes last."""
    since = _current_since(subject)
    told = [_project(member, subject.history, since) for member in subject.members]
    frame = _frame(document.ProjectHealth, told).set_index("project")
    numbers = _numbers(frame.index[frame["pages"].notna()], findings, counts)
    frame = frame.drop(columns=numbers.columns).join(numbers)
    worst_first = ["errors", "warnings", "hints", "oldest_days"]
    ascending = [False] * len(worst_first) + [True]
    return frame.reset_index().sort_values([*worst_first, "project"], ascending=ascending, na_position="last")


def _numbers(known: pd.Index, findings: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """What is counted of the projects in `known`, of which something is known."""
    by_severity = pd.crosstab(findings["project"], findings["severity"])
    of_project = findings.groupby("project")
    last = counts[counts["state"] == LintState.LINTED.value].groupby("project_id").last()
    columns = {
        **{f"{severity}s": by_severity.get(severity) for severity in _SEVERITIES},
        "fixable": of_project["fixable"].sum(),
        "appeared": last["appeared"],
        "gone": last["gone"],
    }
    frame = pd.DataFrame(columns, index=known, dtype="float").fillna(0)
    return frame.assign(oldest_days=of_project["age_days"].max().reindex(known).astype(float))


def _project(member: Member, history: LintHistory, current_since: str) -> dict[str, Any]:
    lint, last = history.linted.get(member.project), history.newest.get(member.project)
    row: dict[str, Any] = {"project": member.project, "tags": ", ".join(member.tags), "night": member.night}
    if not member.is_awake:
        return row | {"state": Knowledge.ASLEEP, "reason": "Its memory is switched off."}
    reason = _why_not_newer(lint, last, current_since)
    if lint is None:
        return row | {"state": Knowledge.NOT_LINTED, "reason": reason or "No lint has met it yet."}
    expected = lint.expected
    return row | {
        "state": Knowledge.LAST_KNOWN if reason else Knowledge.LINTED,
        "reason": reason,
        "linted_at": lint.linted_at,
        "lint": lint.lint_id,
        "pages": sum(lint.by_status.values()),
        "expectations": None if expected is None else len(expected),
        "expectations_broken": None if expected is None else sum(bool(one.broken) for one in expected),
        "notes": " ".join(lint.notes),
    }


def _why_not_newer(lint: LintRow | None, last: LintRow | None, current_since: str) -> str:
    """Why the newest lint of the organisation says nothing of a project; empty where it does."""
    if last is not None and last.state is LintState.UNREAD:
        return Redactor().redact(last.reason)
    return "The last lint did not meet it." if lint is not None and lint.linted_at < current_since else ""


def _current_since(subject: Subject) -> str:
    """When the newest lint of the organisation began: what is younger is current, empty where there was none.

    Most projects met it. One project alone may have been met since, by a lint that goes on or by an organisation that
    has it too.
    """
    awake = subject.awake
    last = [lint for project, lint in subject.history.newest.items() if project in awake]
    met = Counter(lint.lint_id for lint in last)
    newest = max(last, key=lambda lint: (met[lint.lint_id], lint.linted_at), default=None)
    return min((lint.linted_at for lint in last if newest and lint.lint_id == newest.lint_id), default="")


def _codes(findings: pd.DataFrame) -> pd.DataFrame:
    """By check, the most severe and the most frequent first."""
    grouped = findings.groupby("code", observed=True)
    frame = grouped.agg(
        severity=("severity", "min"),
        findings=("code", "size"),
        projects=("project", "nunique"),
        oldest_days=("age_days", "max"),
    )
    with_page = findings[findings["path"] != ""].drop_duplicates(["project", "path", "code"])
    frame["pages"] = with_page.groupby("code").size().reindex(frame.index).fillna(0)
    frame["explanation"] = [_CHECKS[code].explanation if code in _CHECKS else "" for code in frame.index]
    frame["fix"] = [_CHECKS[code].fix if code in _CHECKS else "" for code in frame.index]
    return frame.reset_index().sort_values(["severity", "findings", "code"], ascending=[True, False, True])


def _ages(findings: pd.DataFrame) -> pd.DataFrame:
    """How many of each severity are how old."""
    bounds = [-1.0, *(days - 1 for days, _ in _AGES), float("inf")]
    ages = pd.cut(
        findings["age_days"].astype(float), bounds, labels=[*(age.value for _, age in _AGES), Age.OLDER.value]
    )
    counted = findings.assign(age=ages).groupby(["age", "severity"], observed=True).size()
    return counted.rename("findings").reset_index()


def _nights(counts: pd.DataFrame) -> pd.DataFrame:
    """Each lint of the organisation, oldest first; a wiki that was not read then counts as it was before."""
    if counts.empty:
        return _frame(document.NightHealth, [])
    rounds = counts.groupby("lint_id")["linted_at"].min().sort_values()
    linted = counts[counts["state"] == LintState.LINTED.value]
    if linted.empty:
        return _frame(document.NightHealth, [])
    standing = {name: _by_project(linted, name).reindex(rounds.index).ffill() for name in _COUNTS}
    frame = pd.DataFrame({name: counted.sum(axis=1) for name, counted in standing.items()})
    for name in ("appeared", "gone"):
        frame[name] = linted.groupby("lint_id")[name].sum().reindex(rounds.index).fillna(0)
    frame["projects"] = standing["pages"].notna().sum(axis=1)
    frame["carried"] = frame["projects"] - linted.groupby("lint_id").size().reindex(rounds.index).fillna(0)
    frame["at"] = rounds
    return frame.rename_axis("lint").reset_index()


def _by_project(linted: pd.DataFrame, name: str) -> pd.DataFrame:
    """One count of every lint, with a column for each project."""
    return linted.pivot(index="lint_id", columns="project_id", values=name)


def _per_project(subject: Subject, key: str, told: Callable[[LintRow], Mapping[str, int]]) -> pd.DataFrame:
    """Pages of every awake project by what `told` counts them by."""
    redact = Redactor().redact
    rows = [
        {"project": project, key: redact(name), "pages": pages}
        for project, lint in subject.linted
        for name, pages in told(lint).items()
    ]
    return pd.DataFrame(rows, columns=["project", key, "pages"]).sort_values(["project", key])


def _categories(coverage: pd.DataFrame) -> pd.DataFrame:
    """What the projects write about, the most covered first."""
    frame = coverage.assign(projects=coverage["pages"] > 0, missing=coverage["pages"] == 0)
    summed = frame.groupby("category")[["projects", "missing", "pages"]].sum().reset_index()
    return summed.sort_values(["projects", "pages", "category"], ascending=[False, False, True])


def _expected(subject: Subject) -> pd.DataFrame:
    """One row for each page that breaks an expectation, and one without a path for each that all pages meet."""
    redact = Redactor().redact
    rows = [
        {
            "project": project,
            "expectation": one.name,
            "expects": one.expects,
            "path": redact(path),
            "reason": redact(reason),
        }
        for project, lint in subject.linted
        for one in lint.expected or ()
        for path, reason in one.broken or (("", ""),)
    ]
    frame = pd.DataFrame(rows, columns=["project", "expectation", "expects", "path", "reason"])
    return frame.sort_values(["project", "expectation", "path"])


def _expectations(expected: pd.DataFrame) -> pd.DataFrame:
    """By expectation, the one that most projects break first."""
    broken = expected["path"] != ""
    frame = expected.assign(broken=expected["project"].where(broken), pages=broken.astype(int))
    summed = frame.groupby("expectation").agg(
        expects=("expects", "first"), all=("project", "nunique"), broken=("broken", "nunique"), pages=("pages", "sum")
    )
    summed["passed"] = summed["all"] - summed["broken"]
    return summed.reset_index().sort_values(["broken", "pages", "expectation"], ascending=[False, False, True])


def _frame(kind: type[Value], rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(kind.model_fields))


def _rows(kind: type[_V], frame: pd.DataFrame) -> tuple[_V, ...]:
    """The frame's rows as values; what is missing in one is left to the value's own default."""
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    wanted = kind.model_fields.keys()
    return tuple(
        kind.model_validate({key: _plain(value) for key, value in row.items() if key in wanted and value is not None})
        for row in records
    )


def _plain(value: object) -> object:
    return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value


def _kind_of(name: str) -> type[Value]:
    kind: type[Value] = HealthReport.model_fields[name].annotation.__args__[0]  # type: ignore[union-attr]
    return kind


def _no_formula(value: object) -> object:
    """A text that a spreadsheet would compute gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
