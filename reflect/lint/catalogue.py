"""Every check by its code: how severe what it finds is, what it means, and what `--fix` does about it."""

from __future__ import annotations

from dataclasses import dataclass

from reflect.lint.finding import LintFinding, Severity


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that can be wrong with a wiki. `fix` says what `--fix` does, empty where only a person can tell."""

    code: str
    severity: Severity
    explanation: str
    fix: str = ""

    def found(self, path: str, detail: str, line: int = 0, *, fixable: bool = False) -> LintFinding:
        """A finding of this check."""
        return LintFinding(code=self.code, severity=self.severity, path=path, line=line, detail=detail, fixable=fixable)


_E, _W, _H = Severity.ERROR, Severity.WARNING, Severity.HINT
_REPOINT = "Points it to where the page went, if exactly one page answers to the name."

UNREADABLE = Check("unreadable", _E, "The page is not text, or its frontmatter is no YAML.")
SECOND_BLOCK = Check("second-frontmatter", _E, "A second frontmatter block stands in the text, and nothing reads it.")
MISSING_KEY = Check("missing-key", _W, "A key that the format asks for is missing from the frontmatter.")
BAD_DATE = Check("bad-date", _W, "A date is no day, or the page was updated before it was created.")
UNKNOWN_STATUS = Check("unknown-status", _W, "The status is none that the format knows, so the page is on no shelf.")
MISPLACED = Check("misplaced", _W, "The page's place or name cannot be a page's, or is reached by a link.")
BROKEN_RELATED = Check("broken-related", _E, "A page listed as related does not exist.", _REPOINT)
BROKEN_LINK = Check("broken-link", _E, "A link in the text leads to a file that does not exist.", _REPOINT)
BROKEN_ANCHOR = Check("broken-anchor", _W, "A link leads to a heading that the page does not have.")
ORPHAN = Check("orphan", _H, "No page leads here and this page leads to none.")
MISSING_SOURCE = Check("missing-source", _E, "A cited checkpoint or commit does not exist in this repository.")
UNREACHABLE_SOURCE = Check(
    "unreachable-source", _W, "A cited commit exists but is not part of the default branch's history."
)
STRANGE_SOURCE = Check("strange-source", _W, "An entry of `sources` names neither a checkpoint nor a commit.")
UNLISTED_SOURCE = Check(
    "unlisted-source", _W, "The text cites something that `sources` does not list.", "Adds it to `sources`."
)
NO_CITATION = Check("no-citation", _W, "Citations are required, and a statement carries none.")
LOST_QUOTE = Check("lost-quote", _E, "A quote does not stand, word for word, in what it cites.")
STALE = Check("stale", _W, "Nothing was said on the page's subject for longer than its category's recency.")
POSSIBLY_RESOLVED = Check(
    "possibly-resolved",
    _W,
    "A later commit names the same things as an open page and says that they are done.",
    "Sets the page's status to resolved and moves it to the archive.",
)
ON_THE_SHELF = Check(
    "not-archived", _W, "A resolved or superseded page still stands among the others.", "Moves it to the archive."
)
CONTRADICTED = Check(
    "contradicted",
    _E,
    "A later page says that it supersedes this one, which still counts as active.",
    "Sets the page's status to superseded and moves it to the archive.",
)
TWIN = Check("twin", _E, "Two pages differ only by case, separators or Unicode form: some systems keep only one.")
DUPLICATE = Check("duplicate", _W, "Two pages say mostly the same.")
UNUSED_CATEGORY = Check("uncovered-category", _H, "A section of `format.yaml` has no active page.")
UNREAD_EVIDENCE = Check("uncovered-evidence", _H, "Checkpoints or commits exist that no run has accounted for yet.")
TOO_LONG = Check("too-long", _W, "The page is longer than the format's `max_lines`.")
TOO_SHORT = Check("too-short", _H, "The page says nothing below its title.")
SECRET = Check("secret", _E, "The page holds what looks like a secret.")
NO_SCOPE = Check("missing-scope", _W, "The page says only in part who may see it: scope keys are missing or cannot be.")
FOREIGN_SCOPE = Check("foreign-scope", _E, "The page belongs to another project, or to none that this wiki serves.")
INDEX_STALE = Check("stale-index", _W, "`index.md` is not what the pages make it.", "Makes it anew.")

CHECKS: tuple[Check, ...] = (
    UNREADABLE,
    SECOND_BLOCK,
    MISSING_KEY,
    BAD_DATE,
    UNKNOWN_STATUS,
    MISPLACED,
    BROKEN_RELATED,
    BROKEN_LINK,
    BROKEN_ANCHOR,
    ORPHAN,
    MISSING_SOURCE,
    UNREACHABLE_SOURCE,
    STRANGE_SOURCE,
    UNLISTED_SOURCE,
    NO_CITATION,
    LOST_QUOTE,
    STALE,
    POSSIBLY_RESOLVED,
    ON_THE_SHELF,
    CONTRADICTED,
    TWIN,
    DUPLICATE,
    UNUSED_CATEGORY,
    UNREAD_EVIDENCE,
    TOO_LONG,
    TOO_SHORT,
    SECRET,
    NO_SCOPE,
    FOREIGN_SCOPE,
    INDEX_STALE,
)
