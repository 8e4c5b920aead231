"""The page in a real browser, from a file, by clicking it: nothing leaves it, and what wikis say stays text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page

from reflect.health.files import write_report
from reflect.health.frames import Member, Subject, report_of
from reflect.health.page import MOST_ROWS, page_of
from reflect.ledger.health import ExpectedRow, LintRow
from tests.browser import chromium, keep
from tests.health.histories import NOW, organisation

pytestmark = pytest.mark.xdist_group("browser")

BAD = "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'>"
TURNED = "notes/\u202egnp.md"
SAID = f"{BAD} {{{{ 7 * 7 }}}} 🦜 שלום"


@dataclass
class Watched:
    """A page, everything it asked for and everything it complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def table(self, name: str) -> Locator:
        return self.page.locator(f"#{name}")

    def column(self, name: str, number: int) -> list[str]:
        return self.table(name).locator(f"tbody tr td:nth-child({number})").all_inner_texts()

    def sort(self, name: str, title: str) -> None:
        self.table(name).get_by_role("button", name=title, exact=True).click()


Open = Callable[..., Watched]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the report on a subject from its file; in the end nothing may have left the page or gone wrong."""
    all_watched = []

    def watch(subject: Subject, **context: Any) -> Watched:
        file = write_report(report_of(subject), tmp_path)
        page = browser.new_context(**context).new_page()
        watched = Watched(page)
        all_watched.append(watched)
        page.on("request", lambda request: watched.requests.append(request.url))
        page.on("console", lambda message: watched.complaints.append(message.text))
        page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        return watched

    yield watch
    for watched in all_watched:
        assert watched.page.evaluate("document.documentElement.dataset.ready") == "yes"
        assert [url for url in watched.requests if not url.startswith(("file:", "data:"))] == []
        assert len([url for url in watched.requests if url.startswith("file:")]) == 1
        assert watched.complaints == []
        watched.page.context.close()


@pytest.mark.parametrize(
    ("picture", "size", "theme", "charts"),
    [
        ("health-3", 3, "light", 7),
        ("health-200", 200, "light", 7),
        ("health-dark", 200, "dark", 7),
        ("health-empty", 0, "light", 0),
    ],
)
def test_an_organisation_of_any_size_fits_the_page(
    opened: Open, picture: str, size: int, theme: str, charts: int
) -> None:
    shown = opened(organisation(size), color_scheme=theme, viewport={"width": 1280, "height": 1_000})
    assert shown.page.locator(".chart svg.marks").count() == charts
    for width in (1280, 700):
        shown.page.set_viewport_size({"width": width, "height": 1_000})
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    shown.page.set_viewport_size({"width": 1280, "height": 1_000})
    keep(shown.page, picture, settled_ms=300)


def test_tables_sort_both_ways_and_what_is_not_known_stays_last(opened: Open) -> None:
    shown = opened(organisation(70))
    assert shown.column("projects", 2)[0] == max(shown.column("projects", 2), key=int)
    for _ in range(2):
        shown.sort("projects", "Pages")
    head = shown.table("projects").locator("th", has_text="Pages")
    assert head.get_attribute("aria-sort") == "ascending"
    pages = [int(text) for text in shown.column("projects", 9)]
    assert pages == sorted(pages) and len(pages) == 25
    for _ in range(2):
        shown.table("projects").get_by_role("button", name="Next").click()
    assert shown.column("projects", 9)[-1] == "–"
    assert shown.table("projects").get_by_role("button", name="Next").is_disabled()


def test_tables_filter_by_word_and_by_choice_and_say_how_much_is_left(opened: Open) -> None:
    shown = opened(organisation(70))
    table = shown.table("projects")
    table.get_by_role("searchbox").fill("BILLING")
    assert all(name.startswith("billing") for name in shown.column("projects", 1))
    assert table.get_by_role("status").inner_text() == f"{len(shown.column('projects', 1))} of 70"
    table.get_by_role("searchbox").fill("")
    table.get_by_label("State").select_option("last-known")
    assert set(shown.column("projects", 11)) == {"last known"}
    table.get_by_role("searchbox").fill("no such project")
    assert table.locator("tbody").inner_text() == "Nothing here matches."


def test_a_project_leads_to_its_findings_and_a_check_to_its_own(opened: Open) -> None:
    shown = opened(organisation(70))
    name = shown.column("projects", 1)[0]
    shown.table("projects").get_by_role("button", name=name, exact=True).click()
    assert set(shown.column("findings", 2)) == {name}
    assert shown.page.evaluate("document.activeElement.id") == "findings-title"
    shown.table("codes").get_by_role("button", name="stale", exact=True).click()
    assert set(shown.column("findings", 3)) == {"stale"}
    assert len(set(shown.column("findings", 2))) > 1


def test_the_theme_follows_the_system_and_then_the_person(opened: Open) -> None:
    shown = opened(organisation(3), color_scheme="dark")
    button = shown.page.get_by_role("button", name="Light theme")
    assert button.get_attribute("aria-pressed") == "true"
    dark = _colours(shown.page)
    button.click()
    light = _colours(shown.page)
    assert all(one != other for one, other in zip(dark, light, strict=True))
    shown.page.reload()
    shown.page.wait_for_selector("html[data-ready]")
    shown.requests.pop()
    assert _colours(shown.page) == light


def _colours(page: Page) -> list[str]:
    """What the page, its text and the first area of a chart are painted with."""
    return list(
        page.evaluate(
            """() => [["body", "backgroundColor"], ["body", "color"], ["#chart-trend .mark-area path", "fill"]].map(
                ([where, what]) => getComputedStyle(document.querySelector(where))[what])"""
        )
    )


def test_everything_is_reached_and_used_with_the_keyboard(opened: Open) -> None:
    shown = opened(organisation(3))
    keyboard = shown.page.keyboard
    keyboard.press("Tab")
    assert shown.page.evaluate("document.activeElement.textContent") == "Skip to the report"
    keyboard.press("Enter")
    assert shown.page.evaluate("document.activeElement.id") == "content"
    for _ in range(60):
        keyboard.press("Tab")
        if shown.page.evaluate("document.activeElement.closest('#projects th')?.textContent") == "Warnings":
            break
    keyboard.press("Enter")
    assert shown.table("projects").locator("th", has_text="Warnings").get_attribute("aria-sort") == "descending"


def hostile() -> Subject:
    """An organisation whose wiki says what it must not be able to do."""
    subject = organisation(3)
    project = subject.members[0].project
    history = subject.history
    findings = [
        replace(row, found=replace(row.found, path=TURNED, title=SAID, detail=f"`{BAD}` does not exist."))
        for row in history.findings
    ]
    lint: LintRow = replace(
        history.linted[project],
        by_category={BAD: 3, "🦜": 0},
        by_status={BAD: 3},
        notes=(BAD,),
        expected=(ExpectedRow("no_secret", "x", ((TURNED, BAD),)),),
    )
    members = (*subject.members, Member("asleep", is_awake=False, tags=(BAD,)))
    told = replace(history, findings=tuple(findings), linted={**history.linted, project: lint})
    return replace(subject, organisation=BAD, members=members, history=told)


def test_what_a_wiki_says_stays_text(opened: Open) -> None:
    shown = opened(hostile())
    assert shown.page.evaluate("window.ran") is None
    assert shown.page.locator("main img, main script").count() == 0
    cell = shown.table("findings").locator("tbody tr").first
    assert cell.locator("small").inner_text() == SAID
    assert "notes/⟨U+202E⟩gnp.md" in cell.inner_text()
    assert cell.locator("code").inner_text() == BAD
    assert shown.page.locator("header bdi").inner_text() == BAD
    shown.page.locator("#chart-coverage .mark-rect path").first.hover()
    shown.page.locator("#vg-tooltip-element").wait_for()
    assert shown.page.locator("#vg-tooltip-element img").count() == 0
    assert shown.page.evaluate("window.ran") is None


def test_a_script_that_got_in_all_the_same_does_not_run(browser: Browser, tmp_path: Path) -> None:
    text = page_of(report_of(organisation(3)))
    file = tmp_path / "changed.html"
    file.write_text(text.replace("<main", "<script>window.ran = 1</script><main"), "utf-8")
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert page.evaluate("window.ran") is None and "Content Security Policy" in said[0]
    page.evaluate("fetch('https://example.org/').catch(() => (window.refused = 1))")
    page.wait_for_function("window.refused")
    page.context.close()


def test_an_organisation_without_projects_and_one_never_linted_say_so(opened: Open) -> None:
    empty = opened(Subject("harbour", (), NOW)).page
    assert empty.get_by_role("heading", name="The organisation has no projects.").is_visible()
    assert empty.locator("table, svg.marks").count() == 0
    never = opened(Subject("harbour", (Member("shop"),), NOW)).page
    assert never.get_by_role("heading", name="None of the projects has been linted yet.").is_visible()
    assert never.get_by_text("Not linted is not the same as no findings.").is_visible()
    assert never.locator("#projects tbody").inner_text().startswith("shop")


def test_of_very_many_findings_the_worst_are_on_the_page_and_it_says_so(opened: Open) -> None:
    subject = organisation(200)
    findings = subject.history.findings
    many = findings * (MOST_ROWS // len(findings) + 1)
    shown = opened(replace(subject, history=replace(subject.history, findings=many)))
    assert shown.page.get_by_text(f"{MOST_ROWS:,} of {len(many):,}; findings.csv has all.").is_visible()
    assert shown.table("findings").get_by_role("status").inner_text() == f"{MOST_ROWS} in all"


def test_on_paper_there_are_rows_and_no_controls(opened: Open) -> None:
    shown = opened(organisation(70), color_scheme="dark")
    shown.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    shown.page.emulate_media(media="print")
    assert len(shown.column("projects", 1)) == 70
    assert not shown.table("projects").get_by_role("searchbox").is_visible()
    assert _colours(shown.page)[0] == "rgb(255, 255, 255)"
