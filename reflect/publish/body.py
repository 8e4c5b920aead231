"""What a pull request says, made from the run's report."""

from __future__ import annotations

from reflect.evidence.redaction import Redactor
from reflect.publish.forge import Text
from reflect.publish.policy import PublishPolicy
from reflect.report import RunReport
from reflect.workspace import Workspace

MOST_PAGES = 100
TITLE = "reflect: update the wiki"


def marker(project: str) -> str:
    """The line by which a later night knows the request for its own."""
    return f"<!-- reflect wiki of {project} -->"


def text_of(workspace: Workspace, policy: PublishPolicy, report: RunReport) -> Text:
    """Title, counts, pages and what waits; redacted once more, because it leaves the repository."""
    redact = Redactor(workspace.config.redact).redact
    collected, outcomes = report.collected, report.outcomes
    rows = [f"| `{page.path}` | {page.action} | {_cell(page.reason)} |" for page in report.pages[:MOST_PAGES]]
    more = len(report.pages) - len(rows)
    lines = [
        marker(report.project),
        f"Run `{report.run}` read {collected['sessions']} sessions and {collected['commits']} commits: "
        f"{outcomes['compiled']} compiled, {outcomes['skipped']} skipped, {outcomes['quarantined']} quarantined, "
        f"{outcomes['pending']} pending; {report.queued} claims wait for review.",
        "",
        *(["| page | what | why |", "|---|---|---|", *rows] if rows else []),
        *([f"\n{more} pages more."] if more > 0 else []),
        "",
        "Further nights add to this request. Merge it whenever it reads well; close it and nothing comes back until "
        "there is something new.",
    ]
    return Text(TITLE, redact("\n".join(lines)), policy.labels, policy.draft)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("@", "@\u200b")[:300]
