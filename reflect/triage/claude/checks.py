"""Whether a sentence a model wrote says what its evidence says, and no more.

The eight ways in which summaries of memories go wrong are looked for by their shape: a scope that was lost, a negation
that was turned, an earlier statement kept beside its correction, work on a branch told as landed, a guess told as a
cause, a decision left out, an absence read into silence, and a value nobody gave. None of these looks needs a model,
and each says in one sentence what is wrong, so that the model can be asked again with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reflect.evidence.redaction import MARKER
from reflect.folding import fold
from reflect.model import Finding, Origin, Speaker
from reflect.triage.always_on import is_always_on
from reflect.triage.words import straight, terms

_NEGATORS = (
    r"(?:not|never|no(?!,)|cannot|without|none|nothing|nobody|neither|nor|\w+n't|dont|doesnt|cant|wont|isnt|didnt)"
)
_NEGATION = re.compile(rf"\b{_NEGATORS}\b(?=(?P<what>[^.,;:!?]*))", re.IGNORECASE)
_OBSERVED = (
    r"(?:mention|report|sa(?:y|id|w)|see|test|check|ask|discuss|confirm|know|notic|look|tried|try|hear|measur)\w*"
)
_SILENCE = re.compile(rf"\b{_NEGATORS}\b(?:\s+\w+){{0,3}}?\s+{_OBSERVED}\b", re.IGNORECASE)
_OBSERVES = re.compile(rf"\b{_OBSERVED}\b", re.IGNORECASE)
_AGAINST = re.compile(
    r"\b(?:instead of|rather than|avoid\w*|stop(?:s|ped)?|refus\w+|reject\w*|remov\w+|drop(?:s|ped)?|disabl\w+|forb\w+"
    r"|prohibit\w*|exclud\w+|unsupported|fail\w*|lack\w*|miss(?:es|ing)|skip\w*|revert\w*|impossible|unable|unless|except"
    r"|only|against|abandon\w*|deprecat\w*|ban(?:s|ned)?|wrong|breaks?|broken|broke)\b",
    re.IGNORECASE,
)
_ANY_NEGATION = re.compile(rf"\b{_NEGATORS}\b", re.IGNORECASE)
_WINDOW = 5

_HEDGE = re.compile(
    r"\b(?:might|may|maybe|perhaps|possibl[ey]|probabl[ey]|presumably|apparently|suspect\w*|guess\w*|assum\w+|could be"
    r"|could have|seems?|seemed|looks like|not sure|unsure|unclear|hypothes\w+|theory|likely|wonder\w*|i think|we think"
    r"|one idea|speculat\w+|unconfirmed|unproven|not (?:yet )?confirmed|open question|thought to|believed to)\b",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"\b(?P<word>only(?: (?:for|in|on|when|if|with|after|before|until|the))?|except(?: for| in| on| when)?|unless|until"
    r"|when(?:ever)?|if|while|as long as|at least|at most|up to|limited to|apart from|other than"
    r"|during|within|outside|for|before|after"
    r"|(?:in|on|under|with) (?=(?:the )?(?:staging|prod\w*|dev\w*|ci|tests?|windows|linux|macos|mac|arm\d*|docker"
    r"|local\w*|debug|release|preview|sandbox|canary|beta|alpha|python ?\d|node ?\d|postgres\w*|sqlite|mysql)\b))"
    r"(?P<what>[^.,;:!?()]*)",
    re.IGNORECASE,
)
_LANDED = re.compile(
    r"\b(?:merged|landed|shipped|released|deployed|rolled out|in production|went live|is live|on (?:main|master|trunk)"
    r"|has been (?:fixed|added|implemented|completed)|is (?:done|finished|complete)|in use now|now in use)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:no longer|earlier|until|previously|formerly|originally|at first|initially|used to|was|were|had been"
    r"|replac\w+|superseded|taken back|since changed)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(
    r"https?://[^\s)>\]]+|(?<![\w/])--?[A-Za-z][\w-]+|(?:[\w.@-]*/)+[\w.@-]*|\b[\w-]+\.(?:py|js|ts|go|rs|md|json|ya?ml|toml|sh"
    r"|sql|txt|cfg|ini|lock|html|css)\b|\b[A-Za-z]\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b|\b[A-Z]{3,}\w*\b"
)
_SLASHED = re.compile(r"[A-Za-z]+/[A-Za-z]+")
_NUMBER = re.compile(r"(?<![\w.])v?\d+(?:[.,:]\d+)*")
_SPELLED = {
    word: str(number)
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split(), start=2
    )
} | {"twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"}
_SPELLED_WORD = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_PROPER = re.compile(r"(?<=[a-z,;)] )[A-Z][a-z]{2,}\w*")
_LINK = re.compile(r"\]\(|\[\[|\b[\w.-]+/[\w./-]+\.md\b|<https?:")

FEWEST_SUPPORTED = 0.4
"""The share of a sentence's topical words that must occur in what it cites; summaries of sources have .5 and up."""

LONGEST_TITLE = 90


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence on its way to a page, with the findings it cites and the statement it says it rests on."""

    text: str
    heading: str
    quote: str
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Checker:
    """The checks of one page.

    `in_repository` says whether an identifier occurs in the repository; `page` is what the page says already;
    `superseded` are the ids of findings that a later one takes back.
    """

    in_repository: Callable[[str], bool]
    page: str = ""
    superseded: frozenset[str] = frozenset()

    def fault_of(self, claim: Claim) -> str | None:
        """What is wrong with `claim`, in one sentence; None where nothing is."""
        words = " ".join(_words_of(claim.findings))
        return (
            secret_in(f"{claim.text} {claim.heading}", words)
            or _link(claim.text, words)
            or self._invented(claim.text, words)
            or _negation(claim, words)
            or _hypothesis(claim)
            or _scope(claim)
            or _landed(claim, words)
            or self._corrected(claim)
            or _standing_rule(claim)
            or _unsupported(claim.text, words)
        )

    def fault_of_name(self, text: str, findings: Sequence[Finding]) -> str | None:
        """What is wrong with a title, heading or tag that stands for `findings`."""
        if not text.strip() or len(fold(text)) > LONGEST_TITLE:
            return f"{shown(text)} is empty or longer than {LONGEST_TITLE} characters"
        words = " ".join(_words_of(findings))
        return secret_in(text, words) or _link(text, words) or self._invented(text, words, proper=False)

    def _invented(self, text: str, words: str, *, proper: bool = True) -> str | None:
        """A name, number or value that neither the evidence nor the page nor the repository holds."""
        known = _key(f"{words} {self.page}")
        for name in _names(text):
            if _key(name) not in known and not self.in_repository(name):
                return (
                    f"{name!r} occurs neither in the evidence of this statement nor in the repository (invented value)"
                )
        numbers = _numbers(f"{words} {self.page}")
        for number in _numbers(_CODE.sub(" ", text)) - numbers:
            return f"the number {number} is not in the evidence of this statement (invented value)"
        for match in _PROPER.finditer(_CODE.sub(" ", text)) if proper else ():
            if match.group().casefold() not in known:
                return f"{match.group()!r} is not named in the evidence of this statement (invented value)"
        return None

    def _corrected(self, claim: Claim) -> str | None:
        old = [finding for finding in claim.findings if finding.id in self.superseded]
        if not old or len(old) < len(claim.findings) or _PAST.search(f"{claim.heading} {claim.text}"):
            return None
        return "a later finding takes back what it says, and it does not say so (later correction)"


def secret_in(text: str, evidence: str = "") -> str | None:
    """What is wrong where a secret was taken out of an answer: the evidence, which has none, shows no such place."""
    taken = next((mark for mark in MARKER.findall(text) if mark not in evidence), None)
    return f"it holds what looks like a secret ({taken})" if taken else None


def check_quote(quote: str, findings: Iterable[Finding]) -> bool:
    """Whether `quote` stands word for word in what one of `findings` says."""
    wanted = fold(quote)
    return bool(wanted) and any(
        wanted in fold(text) for finding in findings for text in (finding.quote, *finding.around)
    )


def shown(text: str) -> str:
    """The beginning of `text` on one line, in quotes, for a reason."""
    line = fold(text)
    return f"“{line if len(line) <= 60 else line[:59] + '…'}”"


def _words_of(findings: Iterable[Finding]) -> list[str]:
    return [text for finding in findings for text in (finding.quote, *finding.around, finding.context)]


def _said(claim: Claim) -> str:
    """The statement itself: the quote where the claim gives one, else the words of what it cites."""
    return straight(claim.quote or " ".join(finding.quote for finding in claim.findings))


def _link(text: str, words: str) -> str | None:
    for match in _LINK.finditer(text):
        if match.group() not in words:
            return "it holds a link; links are set by code to pages that exist"
    return None


def _names(text: str) -> list[str]:
    """Names of code in `text`: what is in backticks, and what is shaped like a path, option, address or identifier."""
    plain = _CODE.sub(" ", text)
    shaped = [match.group().rstrip(".,") for match in _NAME.finditer(plain)]
    names = [name for name in shaped if not _SLASHED.fullmatch(name)]
    return [*(match[1].strip() for match in _CODE.finditer(text)), *names]


def _numbers(text: str) -> set[str]:
    found = {match.group().lstrip("v").rstrip(".,:") for match in _NUMBER.finditer(text)}
    return found | {_SPELLED[match.group().casefold()] for match in _SPELLED_WORD.finditer(text)}


def _key(text: str) -> str:
    return " ".join(straight(text).replace("`", "").split()).casefold()


def _negated(text: str) -> set[str]:
    """The topical words that stand directly behind a negation."""
    found: set[str] = set()
    for match in _NEGATION.finditer(straight(text)):
        found.update(terms(" ".join(match["what"].split()[:_WINDOW])))
    return found


def _negation(claim: Claim, words: str) -> str | None:
    said, text = _said(claim), straight(claim.text)
    in_said, in_text = _negated(said), _negated(text)
    about = set(terms(text))
    if in_said & about and not (_ANY_NEGATION.search(text) or _AGAINST.search(text)):
        return "its evidence says this with a negation, and it says it without (flipped negation)"
    if _ANY_NEGATION.search(text) and not (_ANY_NEGATION.search(straight(words)) or _AGAINST.search(words)):
        return "it denies something, and its evidence denies nothing (invalid negative inference)"
    if _SILENCE.search(said) and _ANY_NEGATION.search(text) and not _OBSERVES.search(text):
        return "that nobody said or saw something does not mean that it is not so (invalid negative inference)"
    affirmed = set(terms(said)) - in_said
    if in_text & affirmed and in_said & about and not in_text & in_said:
        return "it denies what its evidence affirms (flipped negation)"
    return None


def _hypothesis(claim: Claim) -> str | None:
    guessed = all(_HEDGE.search(straight(finding.quote)) for finding in claim.findings)
    if guessed and not _HEDGE.search(straight(claim.text)):
        return "its evidence is a guess, and it is told as a fact (hypothesis as cause)"
    return None


def _scope(claim: Claim) -> str | None:
    about = set(terms(claim.text))
    for match in _SCOPE.finditer(_said(claim)):
        limit = set(terms(f"{match['what']}"))
        if limit and not limit & about:
            return f"its evidence says it with a limit ({shown(match.group())}), and it says it without (lost scope)"
        if match["word"].casefold().startswith(("only", "except", "unless")) and not _SCOPE.search(claim.text):
            return f"its evidence says it with a limit ({shown(match.group())}), and it says it without (lost scope)"
    return None


def _landed(claim: Claim, words: str) -> str | None:
    for match in _LANDED.finditer(claim.text):
        if not _LANDED.search(words):
            return f"it says {match.group()!r}, and no finding does (branch not merged)"
    return None


def _standing_rule(claim: Claim) -> str | None:
    """A rule for every future session never comes out of words that a stranger or a machine may have put there."""
    if not is_always_on(claim.text):
        return None
    for finding in claim.findings:
        spoken = finding.speaker is Speaker.PERSON and finding.origin is Origin.CLEAN
        if spoken and (not finding.session_tainted or is_always_on(finding.quote)):
            return None
    return "it is worded as a standing rule, and no person of the project laid one down in the words it cites"


def _unsupported(text: str, words: str) -> str | None:
    said = [term for term in terms(text) if not term.isdigit()]
    known = set(terms(words))
    if len(said) >= 4 and sum(term in known for term in said) < FEWEST_SUPPORTED * len(said):
        return "most of its words are not in its evidence (nothing supports it)"
    return None
