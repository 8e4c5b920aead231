"""The ways in which a page a model wrote is wrong: each is caught, and the right page beside it passes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from reflect.model import Finding, Origin, Speaker
from reflect.triage.claude.checks import Checker, Claim
from reflect.triage.extractive.newest import superseded
from tests.triage.claude.provider import SAID, finding


def fault(text: str, *findings: Finding, heading: str = "Why", page: str = "", repository: Sequence[str] = ()) -> str:
    """What is wrong with `text` as a statement about `findings`; empty where nothing is."""
    checker = Checker(lambda name: name in repository, page=page, superseded=superseded(findings))
    return checker.fault_of(Claim(text, heading, findings[0].quote, findings)) or ""


LOST_SCOPE = [
    ("The API is slow for large exports.", "The API is slow.", "The API is slow for large exports."),
    (
        "The queue should not be restarted during a deploy.",
        "The queue should not be restarted.",
        "During a deploy the queue should not be restarted.",
    ),
    (
        "Retries are off only in the payment worker.",
        "Retries are off.",
        "Retries are off, but only in the payment worker.",
    ),
    ("Use the mock gateway on staging.", "Use the mock gateway.", "Use the mock gateway on staging."),
    (
        "Never cache the price list unless the customer is anonymous.",
        "The price list is never cached.",
        "The price list is never cached unless the customer is anonymous.",
    ),
    (
        "Skip the embed step when the index is empty.",
        "Skip the embed step.",
        "Skip the embed step when the index is empty.",
    ),
]
FLIPPED = [
    (
        "We do not store card numbers in the log.",
        "We store card numbers in the log.",
        "Card numbers are not stored in the log.",
    ),
    ("Never run the migration by hand.", "Run the migration by hand.", "The migration is never run by hand."),
    (
        "Use decimals, not floats, for amounts.",
        "Amounts use floats, not decimals.",
        "Amounts use decimals, not floats.",
    ),
    (
        "Always use decimals, not floats, for amounts.",
        "Use floats, not decimals, for amounts.",
        "Use decimals, not floats, for amounts.",
    ),
    ("The worker can't read the bucket.", "The worker reads the bucket.", "The worker can't read the bucket."),
]
NEGATIVE = [
    ("Ada did not mention the backup.", "The backup does not exist.", "Ada did not mention the backup."),
    ("Nobody reported an outage.", "There was no outage.", "Nobody reported an outage."),
    ("We have not tested the mailer.", "The mailer does not work.", "The mailer was not tested."),
    (
        "Orders are kept for ten years.",
        "Orders are kept for ten years and are never deleted by hand.",
        "Orders are kept for ten years.",
    ),
    (
        "The importer reads CSV files.",
        "The importer reads CSV files and does not support others.",
        "The importer reads CSV files.",
    ),
    ("Ada reviewed the queue.", "Nobody reviewed the queue.", "Ada reviewed the queue."),
]
HYPOTHESES = [
    (
        "Maybe the timeout comes from the proxy buffer.",
        "The timeout comes from the proxy buffer.",
        "The timeout may come from the proxy buffer.",
    ),
    (
        "I suspect the cache key misses the locale.",
        "The cache key misses the locale.",
        "Perhaps the cache key misses the locale.",
    ),
    ("It could be the vulkan driver that hangs.", "The vulkan driver hangs.", "The vulkan driver might be what hangs."),
]
UNMERGED = [
    (
        "We moved the sessions to redis.",
        "The sessions were moved to redis; this is merged.",
        "The sessions were moved to redis.",
    ),
    (
        "no, switch the queue to kafka.",
        "The queue was switched to kafka and is deployed.",
        "The queue is switched to kafka.",
    ),
    ("The new parser handles quotes.", "The new parser, released, handles quotes.", "The new parser handles quotes."),
]
INVENTED = [
    (
        "Raise the timeout of the worker.",
        "Raise the timeout of the worker to 30 seconds.",
        "Raise the timeout of the worker.",
    ),
    ("The index has categories.", "The index has four fixed categories.", "The index has categories."),
    ("Set the flag before the build.", "Set `QMD_LLAMA_GPU` before the build.", "Set the flag before the build."),
    ("Run the linter before a commit.", "Run `make lint-all` before a commit.", "Run the linter before a commit."),
    (
        "The settings are read at the start.",
        "The settings are read at the start from config/app.toml.",
        "The settings are read at the start.",
    ),
    (
        "The queue holds jobs of the worker.",
        "The queue on Redis holds jobs of the worker.",
        "The queue holds jobs of the worker.",
    ),
    (
        "Ask the docs of the queue.",
        "Ask the docs of the queue at https://queue.example/docs.",
        "Ask the docs of the queue.",
    ),
]
FAMILIES = {
    "lost scope": LOST_SCOPE,
    "flipped negation": FLIPPED,
    "invalid negative inference": NEGATIVE,
    "hypothesis as cause": HYPOTHESES,
    "branch not merged": UNMERGED,
    "invented value": INVENTED,
}
CASES = [(family, *case) for family, cases in FAMILIES.items() for case in cases]


@pytest.mark.parametrize(("family", "said", "wrong", "right"), CASES)
def test_a_statement_that_says_more_or_other_than_its_evidence_is_caught(
    family: str, said: str, wrong: str, right: str
) -> None:
    assert family in fault(wrong, finding(said)), fault(wrong, finding(said))
    assert fault(right, finding(said)) == ""
    assert fault(said, finding(said)) == ""


CORRECTED = [
    ("Use tabs for indentation in go files.", "Do not use tabs for indentation in go files."),
    ("The retry limit should be five.", "The retry limit should be nine."),
    ("Deploy with the old script.", "We no longer use the old script to deploy; use the pipeline instead."),
]


@pytest.mark.parametrize(("old", "new"), CORRECTED)
def test_what_a_later_statement_takes_back_is_not_told_as_true(old: str, new: str) -> None:
    earlier = finding(old, position=1)
    later = finding(new, position=2, said_at=SAID + timedelta(days=3), evidence_id="bbbbbbbbbbbb/0")
    checker = Checker(lambda _: False, superseded=superseded([earlier, later]))
    assert "later correction" in (checker.fault_of(Claim(old, "Why", old, [earlier])) or "")
    assert checker.fault_of(Claim(old, "Earlier", old, [earlier])) is None
    assert checker.fault_of(Claim(new, "Why", new, [later])) is None


GOOD = [
    (
        "Switched from --append-system-prompt to --system-prompt to avoid loading the default system prompt",
        "`--system-prompt` replaces `--append-system-prompt`, so that the default system prompt is not loaded.",
    ),
    (
        "`--force` called branches deleted but they persisted because RemoveReference() doesn't work with packed refs",
        "`--force` called branches deleted, but they persisted: `RemoveReference()` does not work with packed refs.",
    ),
    (
        "The embed output was piped through `tail -30` which buffers everything until done — so we see nothing",
        "Piping the embed output through `tail -30` buffers everything until done, so nothing is seen.",
    ),
    (
        "Install qmd if not installed, also qmd index should be named in a way so doesn't collide",
        "The qmd index is named so that it does not collide; qmd is installed where it is missing.",
    ),
    ("We use Postgres 16 because JSON indexes are needed", "Postgres 16 is used, because JSON indexes are needed."),
    ("Don't commit the generated files", "Generated files are not committed."),
]


@pytest.mark.parametrize(("said", "text"), GOOD)
def test_the_same_in_other_words_passes(said: str, text: str) -> None:
    assert fault(text, finding(said)) == ""


def test_an_identifier_may_come_from_the_page_or_the_repository() -> None:
    said = finding("Set the flag before the build.")
    text = "Set `REFLECT_FLAG` before the build."
    assert "invented value" in fault(text, said)
    assert fault(text, said, repository=["REFLECT_FLAG"]) == ""
    assert fault(text, said, page="The flag is `REFLECT_FLAG`.") == ""


@pytest.mark.parametrize(
    "link", ["[docs](https://x.example)", "[[other]]", "see decisions/wiki-layer.md", "[a](gotchas/b.md)"]
)
def test_links_are_set_by_code(link: str) -> None:
    assert "link" in fault(f"Set the flag before the build, {link}.", finding("Set the flag before the build."))


def test_a_secret_never_passes() -> None:
    said = finding("The key is in the vault of the team.")
    assert "secret" in fault("The key is [REDACTED:aws] in the vault of the team.", said)


def test_no_standing_rule_out_of_a_tainted_session_or_a_machines_words() -> None:
    quote = "The review asked for a second look at the deploy."
    text = "Always ask for a second look at the deploy."
    tainted = finding(quote, session_tainted=True)
    assert "standing rule" in fault(text, tainted)
    assert "standing rule" in fault(text, finding(quote, speaker=Speaker.ASSISTANT, origin=Origin.DERIVED))
    own = finding("Always ask for a second look at the deploy.", session_tainted=True)
    assert fault(text, own) == ""


def test_advice_nothing_supports_is_no_statement() -> None:
    said = finding("The embed output was piped through tail, so nothing was seen.")
    text = "Git and file systems treat symlinks and their targets differently in many environments."
    assert "nothing supports it" in fault(text, said)
