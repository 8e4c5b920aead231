"""Whether a page says who may see it, and whether it holds what nobody may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from reflect.lint.catalogue import FOREIGN_SCOPE, NO_SCOPE, SECRET
from reflect.lint.finding import LintFinding
from reflect.lint.view import WikiView, key_line
from reflect.scope.stored import resolve_stored_scope
from reflect.scope.vocabulary import Scope
from reflect.wiki.markdown import split_lines
from reflect.wiki.page import Page


def scopes(view: WikiView, projects: AbstractSet[str], *, global_allowed: bool = False) -> Iterator[LintFinding]:
    """Pages whose scope keys are missing, cannot be, or name another project than one of `projects`.

    A page without any of them is a person's or another tool's and belongs to the repository it lies in.
    """
    for page in view.standing:
        keys = view.contents[page.path].summary.scope_keys
        if not keys:
            continue
        scope = resolve_stored_scope(keys)
        line = key_line(page, "scope")
        if not scope.is_settled:
            yield NO_SCOPE.found(page.path, f"{_missing(page)}: nobody is shown the page before that is mended.", line)
        elif scope.scope is Scope.GLOBAL and not global_allowed:
            yield FOREIGN_SCOPE.found(page.path, "A global lesson belongs into the organisation's own wiki.", line)
        elif scope.scope is Scope.PROJECT and scope.project_id not in projects:
            detail = f"The page belongs to the project {scope.project_id!r}, which this wiki is not."
            yield FOREIGN_SCOPE.found(page.path, detail, key_line(page, "project_id"))


def secrets(view: WikiView, finds: Callable[[str], Sequence[str]]) -> Iterator[LintFinding]:
    """What looks like a secret, on archived pages too: git gives those to every reader as well."""
    for path, page in view.pages.items():
        if not (rules := finds(page.text)):
            continue
        lines = [
            (number, found) for number, line in enumerate(split_lines(page.text), start=1) if (found := finds(line))
        ]
        for number, found in lines or [(1, rules)]:
            detail = f"What looks like a secret stands here ({', '.join(sorted(set(found)))})."
            yield SECRET.found(path, detail, number)


def _missing(page: Page) -> str:
    needed = ("scope", "scope_source", "scope_confidence")
    lacking = [key for key in needed if key not in page.data]
    if lacking:
        return f"The frontmatter lacks {', '.join(f'`{key}`' for key in lacking)}"
    if page.data.get("scope") == Scope.PROJECT and not page.data.get("project_id"):
        return "The frontmatter lacks `project_id`"
    return "The scope keys cannot be"
