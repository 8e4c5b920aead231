"""The newest statement wins."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reflect.model import EvidenceMode, Finding
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.extractive.newest import contradicts
from tests.triage.builders import START, session


def _finding(text: str, day: int) -> Finding:
    template = ExtractiveEngine().reflect(
        session({"prompt": "Go."}, {"reply": "Ok."}, {"prompt": "never push to main"}), EvidenceMode.USER_TURNS
    )[0]
    update = {"quote": text, "headline": text, "said_at": START + timedelta(days=day), "evidence_id": f"{day:012x}/0"}
    return template.model_copy(update=update)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Sessions live in Redis.", "Sessions no longer live in Redis."),
        (
            "The installer clones the repository.",
            "The installer downloads a tarball instead of cloning the repository.",
        ),
        ("Tracks agents in a manifest file.", "Remove the manifest file; use a hardcoded list instead"),
        ("default should be auto", "default should be manual"),
        ("The timeout is 30 seconds.", "The timeout is 60 seconds."),
        ("Always retry failed webhooks.", "Never retry failed webhooks."),
        ("use redis for sessions", "use postgres for sessions"),
        ("Builds run on the Jenkins server.", "We moved away from the Jenkins server."),
        ("Give the upload queue ten workers", "Upload queue: ten workers were too few, it has 25 workers now"),
        ("Keep access logs for 30 days", "Keep access logs 90 days instead, auditors ask for a quarter"),
        ("Batches of the nightly export hold 500 rows", "The nightly export was cut to batches of 200 rows"),
    ],
)
def test_a_replaced_statement_is_recognised(older: str, newer: str) -> None:
    assert contradicts(_finding(newer, 2), _finding(older, 1))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Self reporting does not work.", "Replace self reporting with transcripts."),
        ("Every handler must carry a request id.", "Every handler must log its duration."),
        ("The build fails on Windows.", "The parser silently drops rows."),
        ("never push to main", "never push to main"),
        ("Give the upload queue ten workers", "The mail queue was cut to two workers"),
        ("Keep access logs for 30 days", "Old invoices are now deleted after 10 years"),
        ("Two pods serve the API", "The API of the search pods is now cached for five minutes"),
    ],
)
def test_other_statements_stand_beside_each_other(older: str, newer: str) -> None:
    assert not contradicts(_finding(newer, 2), _finding(older, 1))
