"""What an engine made of a planted half: read from the wiki and the review queue it left, not from its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchmarks.knowledge.planted import NEVER, Half, Lesson
from reflect.folding import fold
from reflect.scope.review import ReviewItem
from reflect.workspace import Workspace


@dataclass(frozen=True)
class Page:
    """One page as it stands: `own` says that it was published by itself and is no digest."""

    path: str
    text: str
    own: bool

    @property
    def category(self) -> str:
        return self.path.split("/")[0]


@dataclass(frozen=True)
class Score:
    """One engine on one half."""

    half: Half
    pages: Sequence[Page]
    queue: Sequence[str]

    @classmethod
    def of(cls, half: Half, workspace: Workspace) -> Score:
        """What the last run left in `workspace`."""
        project = workspace.project.project_id
        with workspace.ledger() as ledger:
            last = ledger.last_run(project)
            queue = [_asked(item) for item in ledger.queue(project)]
        assert last is not None
        wiki = workspace.wiki.folder
        pages = [
            Page(page["path"], fold((wiki / page["path"]).read_text(encoding="utf-8")), not page["digest"])
            for page in last.report["pages"]
            if (wiki / page["path"]).exists()
        ]
        return cls(half, pages, queue)

    @cached_property
    def own(self) -> Sequence[Page]:
        return [page for page in self.pages if page.own]

    @cached_property
    def wrong(self) -> Sequence[Page]:
        """Pages published by themselves that hold no planted lesson, or a decoy beside it."""
        return [page for page in self.own if not self._lessons_on(page) or self._decoys_on(page)]

    @cached_property
    def homes(self) -> Mapping[Lesson, Sequence[Page]]:
        """The pages of their own on which each lesson stands; none for one that was missed."""
        return {lesson: [page for page in self.own if lesson in self._lessons_on(page)] for lesson in self.half.lessons}

    @cached_property
    def found(self) -> Sequence[Lesson]:
        return [lesson for lesson, homes in self.homes.items() if homes]

    @cached_property
    def missed(self) -> Sequence[Lesson]:
        return [lesson for lesson, homes in self.homes.items() if not homes]

    @cached_property
    def doubled(self) -> Sequence[Lesson]:
        return [lesson for lesson, homes in self.homes.items() if len(homes) > 1]

    @cached_property
    def misplaced(self) -> Sequence[Lesson]:
        """Lessons that were found, but on no page of a category that they may stand on."""
        return [one for one in self.found if not any(page.category in one.categories for page in self.homes[one])]

    @cached_property
    def forbidden(self) -> Sequence[str]:
        """Decoys that may stand nowhere, and where they stand."""
        places = [(page.path, page.text) for page in self.pages] + [("the queue", text) for text in self.queue]
        return [
            f"{decoy.family}: {decoy.words!r} in {place}"
            for decoy in self.half.decoys
            if decoy.family in NEVER
            for place, text in places
            if fold(decoy.words) in text
        ]

    @property
    def precision(self) -> float:
        return 1 - len(self.wrong) / len(self.own) if self.own else 0.0

    @property
    def recall(self) -> float:
        return len(self.found) / len(self.half.lessons)

    @property
    def category_accuracy(self) -> float:
        return 1 - len(self.misplaced) / len(self.found) if self.found else 0.0

    def _lessons_on(self, page: Page) -> Sequence[Lesson]:
        return [lesson for lesson in self.half.lessons if fold(lesson.words) in page.text]

    def _decoys_on(self, page: Page) -> Sequence[str]:
        return [decoy.words for decoy in self.half.decoys if fold(decoy.words) in page.text]


def _asked(item: ReviewItem) -> str:
    return fold(item.model_dump_json())
