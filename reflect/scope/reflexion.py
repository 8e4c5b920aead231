"""The Reflexion record: one learned note, tied to what the person said or did that produced it.

Field for field the seed's record, with the later owner's fields, and beside them, at the same level, the scope fields.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from reflect.evidence.transcripts.harness import is_harness_text, is_interruption, person_text
from reflect.model import EvidenceMode, Origin, ReflectionKind
from reflect.scope import provenance
from reflect.scope.metadata import SCOPE_FIELDS
from reflect.scope.numbers import is_probability
from reflect.scope.stored import ResolvedMemoryScope, resolve_stored_scope
from reflect.scope.vocabulary import MemoryType, Scope, ScopeSource

STATED_SCOPE = "stated_scope"
"""The field under which an imported record keeps what its file said of its scope."""

WITHHELD = "(withheld: the owner rewrote this lesson)"


class Reflexion(BaseModel):
    """A lesson and all that is known of where it came from.

    A record from before `origin` existed loads as untrusted, one from before `evidence` as full. Fields this version
    does not know are kept and written back. `confidence` is a model's word about itself: no rule may be built on it.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    domain: str
    session_id: str
    trigger: str
    context: str
    intervention: str
    reflexion_text: str
    error_type: str | None = None
    confidence: float | None = Field(default=None, allow_inf_nan=False)
    is_processed: bool = False
    leap_run_id: str | None = None
    created_at: str
    origin: Origin = Origin.UNTRUSTED
    evidence: EvidenceMode = EvidenceMode.FULL

    edited_at: str | None = None
    dropped_at: str | None = None
    dropped_reason: str | None = None
    approved_at: str | None = None
    approved_by: str | None = None

    memory_type: MemoryType = MemoryType.REFLECTION
    reflection_kind: ReflectionKind | None = None
    scope: Scope | None = None
    project_id: str | None = None
    workspace_root: str | None = None
    scope_confidence: float | None = None
    scope_source: ScopeSource | None = None
    scope_run_id: str | None = None

    evidence_ids: tuple[str, ...] = ()
    session_tainted: bool = False
    always_on: bool = False

    @field_validator("confidence", "scope_confidence", mode="before")
    @classmethod
    def _is_a_number(cls, value: Any) -> Any:
        if value is not None and not is_probability(value):
            raise ValueError("must be a number from 0 to 1")
        return value

    @field_validator("origin", mode="before")
    @classmethod
    def _unsaid_is_untrusted(cls, value: Any) -> Any:
        return Origin.UNTRUSTED if value is None else value

    @field_validator("evidence", mode="before")
    @classmethod
    def _unsaid_is_full(cls, value: Any) -> Any:
        return EvidenceMode.FULL if value is None else value

    @property
    def effective_origin(self) -> Origin:
        """Whose words the lesson is now: the owner's once rewritten; never a person's where the harness spoke."""
        if self.edited_at is not None:
            return Origin.CLEAN
        return Origin.DERIVED if self.is_harness_voice else self.origin

    @property
    def is_harness_voice(self) -> bool:
        """Whether nobody typed the intervention. Looked at on every reading: an older miner may have missed it."""
        text = self.intervention
        return bool(text.strip()) and (is_harness_text(text) or is_interruption(text) or not person_text(text))

    @property
    def learnable(self) -> bool:
        """Whether a learning pass of this record's domain may consume it.

        What git history says corrected nobody: it is a record until its owner puts it into words.
        """
        if self.domain == provenance.HISTORY_DOMAIN and self.edited_at is None:
            return False
        return provenance.learnable(
            self.domain,
            self.origin,
            harness_voice=self.is_harness_voice,
            edited=self.edited_at is not None,
            dropped=self.dropped_at is not None,
        )

    @property
    def stored_scope(self) -> ResolvedMemoryScope:
        return resolve_stored_scope(self.model_dump(mode="json", include={*SCOPE_FIELDS}, exclude_none=True))

    @property
    def lesson(self) -> dict[str, Any]:
        """What was learned and from what, without who may see it and what has been done with it since."""
        return self.model_dump(mode="json", exclude={*SCOPE_FIELDS, *_SINCE})

    def edited(self, text: str, at: str) -> Self:
        """The lesson in its owner's own words. The excerpt it was drawn from is withheld from then on."""
        return self.model_copy(update={"reflexion_text": text, "edited_at": at, "context": WITHHELD})

    def approved(self, by: str, at: str) -> Self:
        """The lesson on a page by an operator's word. Says who may see it; it makes no words clean."""
        return self.model_copy(update={"approved_at": at, "approved_by": by})

    def dropped(self, reason: str, at: str) -> Self:
        """The lesson refused by its owner: kept, flagged, never consumed again."""
        return self.model_copy(update={"dropped_at": at, "dropped_reason": reason})


_SINCE = (
    "approved_at",
    "approved_by",
    "dropped_at",
    "dropped_reason",
    "is_processed",
    "leap_run_id",
    "scope_run_id",
    STATED_SCOPE,
)
