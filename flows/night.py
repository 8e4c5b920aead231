"""One night while it goes on: which organisation, which projects, under which id, and what has been spent."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from prefect.runtime import flow_run

from reflect.errors import LedgerError, RepositoryBusy
from reflect.organisation import record
from reflect.organisation.estate import Estate
from reflect.organisation.night import NightReport, ProjectNight, Step
from reflect.organisation.nightly import FanOut, Overlap

logger = logging.getLogger("reflect.night")

LEASE = "night"
"""The lease by which a night has its organisation for itself."""

POLL_S = 2.0


@dataclass
class Night:
    """`run` is the id of the Prefect run that the night is; `id` begins with the day, so that nights sort."""

    estate: Estate
    id: str
    run: str
    projects: tuple[str, ...]
    started_at: datetime
    dry_run: bool = False
    spent_usd: float = 0.0
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def begin(cls, estate: Estate, projects: Sequence[str], *, dry_run: bool) -> Night:
        """Tonight, for `projects` or for all. Raises ConfigurationError for one that the organisation does not have."""
        started_at = estate.settings.now()
        run = str(flow_run.id or uuid.uuid4())
        chosen = tuple(dict.fromkeys(estate.require(project) for project in projects)) or estate.awake
        return cls(estate, f"{started_at:%Y-%m-%d}-{run[:8]}", run, chosen, started_at, dry_run)

    @property
    def is_alone(self) -> bool:
        """Whether no other night of the organisation may be at work now."""
        return self.estate.nightly.overlap is not Overlap.SHARE

    @property
    def on_the_pool(self) -> bool:
        """Whether projects are runs on the work pool; what writes nothing is planned here."""
        return self.estate.nightly.fan_out is FanOut.DEPLOYMENTS and not self.dry_run

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have the organisation as its file says: for itself at once, after waiting for another night, or shared.

        Raises RepositoryBusy where another night is at work and this one is not to go on.
        """
        with ExitStack() as held:
            if self.is_alone:
                self._take_turn(held)
            yield

    def _take_turn(self, held: ExitStack) -> None:
        nightly = self.estate.nightly
        end = time.monotonic() + (nightly.wait_s if nightly.overlap is Overlap.WAIT else 0.0)
        while True:
            try:
                held.enter_context(self.estate.lease(LEASE, self.run))
                return
            except RepositoryBusy as busy:
                if time.monotonic() >= end:
                    raise RepositoryBusy(
                        f"Another night of {self.estate.name} is at work, so this one did not begin; nothing was "
                        "changed; `overlap: wait` in the organisation file makes a night wait for its turn."
                    ) from busy
            time.sleep(min(POLL_S, max(end - time.monotonic(), 0.05)))

    def settle(self, one: ProjectNight) -> None:
        """Note what became of a project, and what it cost. The night's end writes down what cannot be written now."""
        with self._guard:
            self.spent_usd += one.spend.usd
        if not self.dry_run:
            try:
                record.tell(self.estate, self.id, one)
            except LedgerError as error:
                logger.warning("night: what became of %s could not be written down yet: %s", one.project, error)

    @property
    def cap_reached(self) -> bool:
        """Whether the projects so far cost all that the night may."""
        cap = self.estate.nightly.cap_usd
        return cap is not None and 0 < self.spent_usd >= cap

    def report(
        self, projects: Iterable[ProjectNight], swept: Iterable[str] = (), steps: Iterable[Step] = ()
    ) -> NightReport:
        """What the night came to, with the projects in the order of the organisation file."""
        place = {project: number for number, project in enumerate(self.projects)}
        return NightReport(
            organisation=self.estate.name,
            night=self.id,
            projects=tuple(sorted(projects, key=lambda one: place[one.project])),
            steps=tuple(steps),
            swept=tuple(swept),
            cap_usd=self.estate.nightly.cap_usd,
            dry_run=self.dry_run,
            started_at=self.started_at,
        )

    def refused(self, busy: RepositoryBusy) -> NightReport:
        """A night that did not begin."""
        return self.report(()).model_copy(update={"refused": str(busy), "finished_at": self.estate.settings.now()})
