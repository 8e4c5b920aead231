"""R1 on a page that an operator's word put something on: their keys, and the worse of two origins."""

from __future__ import annotations

import pytest

from reflect.model import EvidenceMode, Origin
from reflect.scope.metadata import build_scope_metadata
from reflect.scope.page_keys import PageKeys, approved_keys
from reflect.scope.provenance import Provenance
from reflect.scope.vocabulary import MemoryType, Scope, ScopeSource
from tests.scope.cases import House, P, finding, house, p_keys, page, session

CLEAN = Provenance(origin=Origin.CLEAN, evidence=EvidenceMode.FULL)


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> House:
    return house(tmp_path_factory.getbasetemp() / "page-keys")


def approved_onto(home: House, **stands: object) -> PageKeys:
    """A clean claim approved for P, on a page whose keys are those of P but for `stands`."""
    keys = build_scope_metadata(
        scope=Scope.PROJECT,
        project_id=P,
        workspace_root=str(home.p),
        scope_confidence=1.0,
        scope_source=ScopeSource.OPERATOR,
    )
    return approved_keys(
        [finding(session())],
        CLEAN,
        keys,
        MemoryType.REFLECTION,
        repository=home.p,
        proposal_id="0123456789ab",
        always_on=False,
        rewritten=True,
        page=page(scope_keys=p_keys(**stands)),
    )


@pytest.mark.parametrize("origin", [Origin.UNTRUSTED, Origin.DERIVED, "of-our-own", None])
def test_approving_a_clean_claim_cleans_no_page(home: House, origin: str | None) -> None:
    """R1 binds what an operator approves; provenance is the worse of page and claim."""
    made = approved_onto(home, origin=origin)
    assert (made.scope, made.project_id, made.scope_source) == ("project", P, "operator")
    assert made.origin == (origin if origin == Origin.DERIVED else Origin.UNTRUSTED)
    assert made.learnable is False


def test_what_a_narrowed_session_left_on_a_page_stays_said(home: House) -> None:
    """R1, and what an engine was shown of the page's own sessions."""
    made = approved_onto(home, evidence="user_turns")
    assert (made.scope, made.project_id, made.scope_source) == ("project", P, "operator")
    assert (made.origin, made.evidence, made.learnable) == (Origin.CLEAN, EvidenceMode.USER_TURNS, True)
