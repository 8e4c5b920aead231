"""Each check on a wiki that has the fault and on one that does not; what `--fix` mends, and what it leaves alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reflect.lint.catalogue import CHECKS
from reflect.lint.finding import LintFinding
from reflect.lint.mend import mend, preview
from reflect.lint.run import lint
from reflect.settings import Settings
from reflect.workspace import Workspace
from tests.conftest import clone_sample

HEAD = "created: 2026-05-01\nupdated: 2026-05-02\nsources: []\ntags: []\nstatus: active\n"
NOW = 1_777_800_000  # 2026-05-03


class Shelf:
    """A git repository with a wiki, one commit of a person's, and a ledger of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root / "shop"
        self.wiki = self.root / ".reflect" / "wiki"
        self.wiki.mkdir(parents=True)
        self.settings = Settings(state_dir=root / "state", source_date_epoch=NOW)
        self.git("init", "-q", "-b", "main")
        self.sha = self.commit("Cap retries at three", "A third retry already doubles the load.")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", "-C", str(self.root), *identity, *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, subject: str, body: str = "") -> str:
        self.git("commit", "-q", "--allow-empty", "-m", f"{subject}\n\n{body}")
        return self.git("rev-parse", "HEAD")

    def page(self, path: str, body: str, head: str = HEAD) -> str:
        """A page with `head` as its frontmatter."""
        return self.raw(path, f"---\n{head}---\n\n{body}")

    def raw(self, path: str, text: str) -> str:
        file = self.wiki / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return path

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.root, self.settings)

    def lint(self, *codes: str) -> tuple[LintFinding, ...]:
        return tuple(f for f in lint(self.workspace).findings if not codes or f.code in codes)

    def bytes(self) -> dict[str, bytes]:
        return {str(f.relative_to(self.wiki)): f.read_bytes() for f in sorted(self.wiki.rglob("*.md"))}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


Broken = Callable[[Shelf], str]


def _cited(shelf: Shelf, quote: str) -> str:
    return f"# Retries\n\n> {quote} (commit {shelf.sha[:8]})\n"


def _sources(shelf: Shelf) -> str:
    return HEAD.replace("sources: []", f'sources: ["commit {shelf.sha[:8]}"]')


def _links(shelf: Shelf, text: str) -> str:
    shelf.page("decisions/retries.md", "# Retries\n\n## Why `three`?\n\nSee [b](b.md).\n")
    return shelf.page("decisions/b.md", f"# B\n\n{text}\n")


def _commit_elsewhere(shelf: Shelf) -> str:
    shelf.git("checkout", "-q", "-b", "side")
    sha = shelf.commit("Try five retries")
    shelf.git("checkout", "-q", "main")
    return sha[:10]


def _secret() -> str:
    return "ghp_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"


def _resolved(shelf: Shelf) -> str:
    path = shelf.page("open-work/breaker.md", "# Wire the circuit breaker into billing\n\nNobody has yet.\n")
    shelf.commit("feat: the circuit breaker is wired into billing and done")
    return path


def _global(shelf: Shelf) -> str:
    keys = 'memory_type: "reflection"\nscope: "global"\nscope_source: "operator"\nscope_confidence: 1.0\n'
    return shelf.page("decisions/all.md", "# All\n\nx\n", HEAD + keys)


def _foreign(shelf: Shelf) -> str:
    keys = 'scope: "project"\nproject_id: "other-123456"\nworkspace_root: "."\n'
    keys += 'scope_source: "extraction_default"\nscope_confidence: 1.0\n'
    return shelf.page("decisions/theirs.md", "# Theirs\n\nx\n", HEAD + keys)


FAULTS: dict[str, Broken] = {
    "unreadable": lambda s: s.raw("gotchas/a.md", "---\ntags: [a\n---\n# A\n"),
    "second-frontmatter": lambda s: s.page("gotchas/a.md", "---\nstatus: resolved\n---\n# A\n\nx\n"),
    "missing-key": lambda s: s.page("gotchas/a.md", "# A\n\nx\n", HEAD.replace("status: active\n", "")),
    "bad-date": lambda s: s.page("gotchas/a.md", "# A\n\nx\n", HEAD.replace("2026-05-02", "2026-04-30")),
    "unknown-status": lambda s: s.page("gotchas/a.md", "# A\n\nx\n", HEAD.replace("active", "retired")),
    "misplaced": lambda s: s.page("loose.md", "# Loose\n\nx\n"),
    "broken-related": lambda s: s.page("gotchas/a.md", "# A\n\nx\n", HEAD + "related: [gotchas/gone]\n"),
    "broken-link": lambda s: _links(s, "See [the page](gone.md)."),
    "broken-anchor": lambda s: _links(s, "See [why](retries.md#why-four)."),
    "orphan": lambda s: s.page("gotchas/a.md", "# A\n\nx\n"),
    "missing-source": lambda s: s.page("gotchas/a.md", "# A\n\nx (checkpoint 0123456789ab)\n"),
    "unreachable-source": lambda s: s.page("gotchas/a.md", f"# A\n\nx (commit {_commit_elsewhere(s)})\n"),
    "strange-source": lambda s: s.page("gotchas/a.md", "# A\n\nx\n", HEAD.replace("[]", "[a talk]", 1)),
    "unlisted-source": lambda s: s.page("gotchas/a.md", _cited(s, "Cap retries at three")),
    "no-citation": lambda s: s.page("gotchas/a.md", "# A\n\nRetries are capped.\n"),
    "lost-quote": lambda s: s.page("gotchas/a.md", _cited(s, "Cap retries at seven"), _sources(s)),
    "stale": lambda s: s.page("gotchas/a.md", "# A\n\nx\n", HEAD.replace("2026-05-0", "2025-05-0")),
    "possibly-resolved": _resolved,
    "not-archived": lambda s: s.page("gotchas/a.md", "# A\n\nx\n", HEAD.replace("active", "superseded")),
    "contradicted": lambda s: (
        s.page("decisions/new.md", "# New\n\nThis supersedes [the old way](old.md).\n")
        and s.page("decisions/old.md", "# Old\n\nx\n")
    ),
    "twin": lambda s: (
        s.page("gotchas/Retry_Policy.md", "# A\n\nx\n") and s.page("gotchas/retry-policy.md", "# A\n\ny\n")
    ),
    "duplicate": lambda s: (
        s.page(
            "decisions/one.md", "# One\n\n- retries are capped at three here\n- the queue is drained before a stop\n"
        )
        and s.page(
            "decisions/two.md", "# Two\n\n- retries are capped at three here\n- the queue is drained before a stop\n"
        )
    ),
    "uncovered-category": lambda s: s.page("gotchas/a.md", "# A\n\nx\n") and "",
    "uncovered-evidence": lambda s: "",
    "too-long": lambda s: s.page("gotchas/a.md", "# A\n" + "\n- a line that is new\n" * 150),
    "too-short": lambda s: s.page("gotchas/a.md", "# A\n\n## Why\n"),
    "secret": lambda s: s.page("gotchas/a.md", f"# A\n\nThe key is {_secret()} for now.\n"),
    "missing-scope": lambda s: s.page("gotchas/a.md", "# A\n\nx\n", HEAD + 'project_id: "shop"\n'),
    "foreign-scope": _foreign,
    "stale-index": lambda s: s.raw("index.md", "# Mine\n") and s.page("gotchas/a.md", "# A\n\nx\n") and "index.md",
}


@pytest.mark.parametrize("code", [check.code for check in CHECKS])
def test_every_check_finds_its_fault(shelf: Shelf, code: str) -> None:
    path = FAULTS[code](shelf)
    found = shelf.lint(code)
    assert path in {finding.path for finding in found}
    assert all(finding.detail for finding in found)


def test_a_secret_is_in_no_detail(shelf: Shelf) -> None:
    head = HEAD.replace("updated: 2026-05-02", f"updated: {_secret()}").replace(
        "sources: []", f"sources: [{_secret()}]"
    )
    shelf.page("gotchas/a.md", f"# A\n\n[x]({_secret()}.md) {_secret()}\n", f"{head}related: [{_secret()}]\n")
    found = shelf.lint()
    codes = {"secret", "bad-date", "strange-source", "broken-related", "broken-link"}
    assert codes <= {finding.code for finding in found if finding.path == "gotchas/a.md"}
    assert not any(_secret() in finding.detail for finding in found)


def test_a_global_page_is_foreign_to_a_repository(shelf: Shelf) -> None:
    assert shelf.lint("foreign-scope") == ()
    path = _global(shelf)
    assert [finding.path for finding in shelf.lint("foreign-scope")] == [path]


def test_a_well_kept_page_has_nothing_but_what_the_wiki_lacks(shelf: Shelf) -> None:
    head = _sources(shelf) + "related: [gotchas/b.md]\n"
    shelf.page("gotchas/a.md", _cited(shelf, "Cap retries at three"), head)
    shelf.page("gotchas/b.md", _cited(shelf, "A third retry already doubles the load."), head.replace("b.md", "a.md"))
    mend(shelf.workspace, shelf.lint("stale-index"))
    assert {finding.code for finding in shelf.lint()} <= {"uncovered-category", "uncovered-evidence"}


NO_FAULTS = {
    "a link in code": ("broken-link", "`[x](gone.md)`"),
    "a link in a quote": ("broken-link", "> see [x](gone.md) (commit {sha})"),
    "an address": ("broken-link", "[x](https://example.org/gone.md)"),
    "an anchor that is there": ("broken-anchor", "[x](retries.md#why-three)"),
    "a file of the repository": ("broken-link", "[x](../../../README.md)"),
    "superseded by, in words that name no page": ("contradicted", "This was superseded by experience."),
    "a quote that is there": ("lost-quote", "> A third retry already (commit {sha})"),
    "a quote in other white space": ("lost-quote", "> A third  retry (commit {sha})"),
    "an abbreviated commit": ("missing-source", "x (commit {sha})"),
}


@pytest.mark.parametrize("name", NO_FAULTS)
def test_what_only_looks_like_a_fault_is_none(shelf: Shelf, name: str) -> None:
    code, text = NO_FAULTS[name]
    (shelf.root / "README.md").write_text("# Shop\n")
    _links(shelf, text.format(sha=shelf.sha[:8]))
    assert shelf.lint(code) == ()


def test_two_words_in_common_do_not_resolve_a_page(shelf: Shelf) -> None:
    shelf.page("open-work/breaker.md", "# Wire the circuit breaker into billing\n\nNobody has yet.\n")
    shelf.commit("fix: the billing page is done")
    shelf.commit("The circuit breaker into billing: wire it next week, it is not done")
    assert shelf.lint("possibly-resolved") == ()


def test_fix_mends_what_it_can_and_removes_no_text(shelf: Shelf) -> None:
    moved = shelf.page("guides/retry.md", "# Retry\n\nx\n")
    page = shelf.page(
        "decisions/a.md",
        f"# A\n\nSee [it](retry.md) and [gone](lost.md). x (commit {shelf.sha[:8]})\n",
        HEAD + "related: [decisions/retry, decisions/lost]\n",
    )
    old = shelf.page("decisions/old.md", "# Old\n\nKept words.\n", HEAD + "superseded_by: decisions/a.md\n")
    before = shelf.bytes()
    shown = preview(shelf.workspace, shelf.lint())
    assert shelf.bytes() == before and "+  - guides/retry.md" in shown.diff

    done = mend(shelf.workspace, shelf.lint())
    text = (shelf.wiki / page).read_text()
    assert "guides/retry.md" in text and "(../guides/retry.md)" in text
    assert "decisions/lost" in text and "(lost.md)" in text
    assert f'"commit {shelf.sha[:8]}"' in text
    assert done.moves == ((old, f"_archive/{old}"),)
    assert "Kept words." in (shelf.wiki / "_archive" / old).read_text()
    assert [finding.path for finding in shelf.lint("broken-related", "broken-link")] == [page, page]
    assert not any(finding.fixable for finding in shelf.lint()) and moved in shelf.bytes()

    after = shelf.bytes()
    assert mend(shelf.workspace, shelf.lint()).paths == ()
    assert shelf.bytes() == after


def test_a_page_is_never_related_to_itself(shelf: Shelf) -> None:
    shelf.page("guides/retry.md", "# Retry\n\nx\n", HEAD + "related: [decisions/retry]\n")
    (found,) = shelf.lint("broken-related")
    assert not found.fixable


def test_a_quote_is_looked_for_once(shelf: Shelf) -> None:
    shelf.page("gotchas/a.md", _cited(shelf, "Cap retries at three"), _sources(shelf))
    assert shelf.lint("lost-quote") == ()
    (verified,) = (shelf.root.parent / "state" / "lint").iterdir()
    first = verified.read_text()
    assert len(first.split()) == 1
    shelf.page("gotchas/a.md", _cited(shelf, "Cap retries at seven"), _sources(shelf))
    assert len(shelf.lint("lost-quote")) == 1 and verified.read_text() == ""


def test_what_a_shallow_clone_lacks_is_not_called_missing(shelf: Shelf, tmp_path: Path) -> None:
    shelf.commit("Second")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{shelf.root}", str(tmp_path / "clone")], check=True)
    wiki = tmp_path / "clone" / ".reflect" / "wiki"
    (wiki / "gotchas").mkdir(parents=True)
    (wiki / "gotchas" / "a.md").write_text(f"---\n{HEAD}---\n# A\n\nx (commit {shelf.sha[:8]})\n")
    report = lint(Workspace.open(tmp_path / "clone", shelf.settings))
    assert not [finding for finding in report.findings if finding.code == "missing-source"]
    assert any("shallow" in note for note in report.notes)


def test_the_sample_wiki(sample_bundle: Path, tmp_path: Path) -> None:
    root = clone_sample(sample_bundle, tmp_path / "sample")
    settings = Settings(state_dir=tmp_path / "state", source_date_epoch=NOW)
    before = subprocess.run(["git", "-C", str(root), "status", "--porcelain"], capture_output=True, check=True).stdout
    report = lint(Workspace.open(root, settings))
    after = subprocess.run(["git", "-C", str(root), "status", "--porcelain"], capture_output=True, check=True).stdout
    assert before == after
    codes = [finding.code for finding in report.findings]
    assert codes.count("broken-related") == 20
    assert [f.path for f in report.findings if f.code == "second-frontmatter"] == [
        "guides/keeper-agent-focused-design.md"
    ]
    mend(Workspace.open(root, settings), report.findings)
    once = {f: f.read_bytes() for f in (root / ".reflect").rglob("*.md")}
    assert mend(Workspace.open(root, settings), lint(Workspace.open(root, settings)).findings).paths == ()
    assert {f: f.read_bytes() for f in (root / ".reflect").rglob("*.md")} == once


def test_the_command(shelf: Shelf) -> None:
    shelf.page("gotchas/[red]a.md", "# A\n\nx\n", HEAD + "related: [gotchas/gone]\n")

    def reflect(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = shutil.which("reflect", path=str(Path(sys.executable).parent))
        assert program is not None
        state = str(shelf.root.parent / "state")
        return subprocess.run(
            [program, "lint", "--repo", str(shelf.root), *arguments],
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": state, "REFLECT_STATE_DIR": state, "COLUMNS": "60"},
        )

    found = json.loads((done := reflect("--json")).stdout)
    assert done.returncode == 1 and found["total"] == len(found["findings"]) and found["fixed"] == 0
    assert {"code", "severity", "path", "line", "detail", "fixable"} == found["findings"][0].keys()
    lines = reflect().stdout.splitlines()
    assert any(line.startswith("gotchas/[red]a.md:7: error broken-related: `gotchas/gone`") for line in lines)
    assert reflect("--dry-run").returncode == 2
    assert reflect("--fix", "--dry-run", "--json").returncode == 1
    fixed = json.loads(reflect("--fix", "--json").stdout)
    assert fixed["fixed"] == 1 and fixed["changed"] == ["wiki/index.md"]
