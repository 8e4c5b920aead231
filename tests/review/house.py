"""A real repository whose second night leaves one question of every kind, and the bench on which they are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.ledger.ledger import Ledger
from reflect.model import Action, Finding, Operation, Origin, Plan
from reflect.pipeline.index import Outcomes, land
from reflect.pipeline.intake import Intake, take_in
from reflect.pipeline.recovery import prepare
from reflect.pipeline.scope import bind_plan
from reflect.pipeline.triage import gather, plan_pages, reflect_on_session
from reflect.pipeline.write import Desk
from reflect.pipeline.write import gather as gather_drafts
from reflect.report import RunReport
from reflect.review.bench import Bench
from reflect.scope.review import ReviewItem
from reflect.settings import Settings
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.workspace import Workspace

ADA = "Ada Example <ada@example.com>"
EPOCH = 1_790_000_000
NOW = datetime.fromtimestamp(EPOCH, UTC)

PLAIN = "no, never store prices as floats, use integer cents everywhere"
STRAYED = "no, never retry a payment more than three times, the provider bans us"
CHANGE = "no, keep the prices page about net prices, gross is what the invoice module does"
DERIVED = "no, the parser has to keep the order of the lines, the report depends on it"
WIDE = "no, we decided to take advisory locks in Postgres, Redis lost them during the failover"
RULE = "no, always squash before you merge, nobody reads the small steps"
OUTSIDE = "Always validate addresses with the vendor library, we decided against our own parser."

KINDS = {"strayed": STRAYED, "change": CHANGE, "outside": OUTSIDE, "derived": DERIVED, "wide": WIDE, "rule": RULE}
"""Every kind of question by a part of its claim: work outside the project (on a new page, and on one that is there), an
outsider's words, a machine's words, a lesson and a standing rule that would join another project's page."""

APPROVABLE = ("strayed", "change", "wide", "rule")

OWN_PAGE, THEIR_PAGE = "decisions/prices.md", "decisions/theirs.md"
_CONFIG = "project_id: shop\ntrusted_authors: [ada@example.com]\n"
_PAGE = """---
created: 2026-03-01
updated: 2026-03-01
sources:
  - checkpoint: "aaaaaaaaaaaa"
status: active
memory_type: reflection
reflection_kind: corrective
scope: project
project_id: "{project}"
workspace_root: "."
scope_confidence: 0.6
scope_source: extraction_default
origin: clean
evidence: full
always_on: false
learnable: true
---

# {title}

What stood here before. (checkpoint aaaaaaaaaaaa)
"""


@dataclass(frozen=True)
class Shop:
    """One repository with its state."""

    git: GitRepository
    settings: Settings

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.git.path, self.settings)

    project = "shop"

    @property
    def folder(self) -> Path:
        return self.git.path / ".reflect"

    def ledger(self) -> Ledger:
        return Ledger.open(self.settings.ledger)

    @contextmanager
    def bench(self, by: str = ADA) -> Iterator[Bench]:
        workspace = self.workspace
        with workspace.ledger() as ledger:
            yield Bench.of_repository(workspace, ledger, by)

    def items(self, status: str | None = None) -> tuple[ReviewItem, ...]:
        with self.ledger() as ledger:
            return ledger.queue(self.project, status)

    def item(self, said: str) -> ReviewItem:
        """The one question about the claim that holds `said`."""
        (found,) = [one for one in self.items() if said in (one.original_claim or one.claim)]
        return found

    def page(self, path: str) -> str:
        return (self.folder / "wiki" / path).read_text()

    def pages(self) -> dict[str, str]:
        """Every page of the repository's wiki and of the organisation's, by path."""
        wikis = {"own": self.folder, "all": self.settings.organisation_wiki()}
        return {
            f"{name}/{path.relative_to(folder / 'wiki')}": path.read_text()
            for name, folder in wikis.items()
            for path in sorted((folder / "wiki").rglob("*.md"))
            if path.name not in ("index.md", "log.md")
        }


def shop(folder: Path, ledger_url: str | None = None) -> Shop:
    """A repository in which every kind of question can be asked; nothing is compiled yet."""
    git = GitRepository.create(folder / "shop")
    files = {
        "shop.py": "ORDERS = []\n",
        ".reflect/config.yaml": _CONFIG,
        f".reflect/wiki/{OWN_PAGE}": _PAGE.format(project="shop", title="Prices"),
        f".reflect/wiki/{THEIR_PAGE}": _PAGE.format(project="elsewhere", title="Theirs"),
    }
    git.commit("feat: take orders", files)
    git.checkpoint_branch(
        [
            ("aaaaaaaaaaaa", [said("s1", git.path, PLAIN)]),
            ("bbbbbbbbbbbb", [said("s2", git.path, STRAYED, CHANGE, strayed=True)]),
            ("cccccccccccc", [said("s3", git.path, DERIVED)]),
            ("dddddddddddd", [said("s4", git.path, WIDE, RULE)]),
        ]
    )
    git.commit(f"feat: addresses\n\n{OUTSIDE}", {"address.py": "x = 1\n"}, who=("Eve", "eve@elsewhere.example"))
    return Shop(git, Settings(state_dir=folder / "state", source_date_epoch=EPOCH, ledger_url=ledger_url))


def asked(folder: Path, ledger_url: str | None = None) -> Shop:
    """The same after a run that put every kind of question."""
    made = shop(folder, ledger_url)
    night(made.workspace, every_question)
    return made


def every_question(plan: Plan, intake: Intake) -> Plan:
    """The plan with each of the planted claims where it becomes a question."""
    findings = [*(one for action in plan.actions for one in action.findings), *(fate.finding for fate in plan.fates)]
    found = {name: next(one for one in findings if claim in one.quote) for name, claim in KINDS.items()}
    found["derived"] = found["derived"].model_copy(update={"origin": Origin.DERIVED})
    planted = {
        "strayed": alone(found["strayed"], "never-retry-a-payment"),
        "change": alone(found["change"], OWN_PAGE),
        "outside": alone(found["outside"], "outside"),
        "derived": alone(found["derived"], "derived"),
        "wide": alone(found["wide"], THEIR_PAGE),
        "rule": alone(found["rule"], THEIR_PAGE),
    }
    taken = {one.id for one in found.values()}
    others = [action for action in plan.actions if taken.isdisjoint(one.id for one in action.findings)]
    return Plan(actions=(*others, *planted.values()))


def said(name: str, here: Path, *claims: str, strayed: bool = False) -> StoredSession:
    told = ClaudeTranscript(name, cwd=str(here)).prompt("add a cart").reply("Done.")
    if strayed:
        told.cwd = "/somewhere/else"
    for claim in claims:
        told.prompt(claim).reply("Done.")
    return StoredSession(told.encode(), name)


def night(workspace: Workspace, change: Callable[[Plan, Intake], Plan] | None = None) -> RunReport:
    """One run of the extractive engine; `change` puts another plan in the place of its own."""
    engine = ExtractiveEngine(workspace.config.weights)
    prepare(workspace)
    intake = take_in(workspace, engine)
    answers = [(one, reflect_on_session(engine, one), None) for one in intake.batch.sessions]
    reflected = gather(answers)
    findings = (*reflected.findings, *engine.reflect_on_commits(intake.batch.commits), *intake.carried)
    planned = plan_pages(engine, findings, intake, workspace)
    bound = bind_plan(change(planned, intake) if change else planned, intake, workspace)
    desk = Desk.of(engine, bound, intake, workspace)
    written = gather_drafts((one, desk.write(one), None) for one in bound.writes).linking_to(intake.wiki)
    return land(workspace, Outcomes(engine, intake, bound, written, reflected.unanswered, workspace.settings.now()))


def alone(finding: Finding, place: str = "asked") -> Action:
    """A plan to put one finding on the page at `place`, or on a new one of that name."""
    exists = place.endswith(".md")
    category, slug = place.removesuffix(".md").split("/") if exists else (finding.category, place)
    return Action(
        operation=Operation.UPDATE if exists else Operation.CREATE,
        category=category,
        slug=slug,
        title=finding.headline,
        reason="a test asks",
        findings=(finding,),
    )
