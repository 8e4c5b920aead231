"""Secrets that are known by the name they are given: `password=hunter2`, in the notation of any language or file.

A name may be part of a longer one (`DB_PASSWORD`, `clientSecret`), stand in quotes, carry a type, and be followed by
`=`, `:`, `:=`, `=>`, a tag, a YAML or JSON `value:` or a space after a command-line option. Because names of secrets
are also names of variables, columns and messages, the value decides: see `_is_secret`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reflect.evidence.placeholders import is_placeholder
from reflect.evidence.secret_shapes import Hit

WORDS = ("pass", "pwd", "secret", "token", "key", "credential", "auth")
"""What every name of a secret holds, in lower case."""

_NAME = re.compile(
    r"""
    (?P<word>pass(?:word|wd|phrase|code)?|pwd|secret|token|key|credentials?|auth)
    (?:[_-]?(?:key|base|value|string|raw|b64|base64|prod(?:uction)?|staging|stage|dev|test|live|old|new|current
             |default|backup|admin|root|user|[0-9]{1,3})(?![a-z]))*
    (?P<close>\\*["'`]?\]?)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPERATOR = re.compile(
    r"""
      (?:[ \t]*:[ \t]*[&A-Za-z_][\w\[\], |.&<>']{0,40}?(?=[ \t]*=[^=]))?[ \t]*(?P<sign>=>|:=|={1,3}|:)[ \t]*
    | (?P<encoded>%3[ad])
    | [ \t]*(?:\n[ \t]*|,\s*)\\*["']?value\\*["']?[ \t]*:[ \t]*
    | (?P<tag>>)(?=[^<>\n]+</)
    | (?P<comma>,)[ \t]*(?=\\*["'])
    | (?P<space>[ \t]+)(?:(?P<prose>is|was)[ \t]*:?[ \t]+)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VALUE = re.compile(
    r"""
    [bru]{0,2}(?P<quote>["'`])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\n]){1,512})(?P=quote)
    | (?P<escaped>\\+["'])(?P<inner>(?:(?!(?P=escaped))[^\n]){1,512})(?P=escaped)
    | \\*["'`]?(?P<bare>[^\s"'`+,;)\].][^\s"'`<]*)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BARE_ENDS = re.compile(r"[,;&](?=$|[\w.-]+[ \t]*[=:])|\\+[\"'nrt]|[,;)\]}>.:!?]+$|&amp;|%26")
_QUALIFIERS = re.compile(
    r"""
    (?:api|access|auth|account|private|priv|secret|encrypt(?:ion)?|crypt|cipher|decrypt(?:ion)?|sign(?:ing)?|signature
      |master|shared|service(?:[_-]?role)?|session|jwt|hmac|webhook|license|storage|deploy|ssh|ssl|tls|admin|root|app
      |application|client|consumer|subscription|ingest|rest|bot|aws|openai|anthropic|claude|gemini|google|azure|github
      |gitlab|stripe|twilio|sendgrid|supabase|datadog|dd|sentry|cohere|mistral|groq|hf|algolia|mailgun|recovery)
    [_\-. ]?$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PLAIN_NUMBER = re.compile(r"[\d\s.,:/%+^~<>=v*x-]+")
_VERSION = re.compile(r"[\^~<>=v ]*\d+\.\d+[\w.+-]*")
_PATH = re.compile(r"(?:[A-Za-z]:|~|\.{1,2})?(?:[/\\][\w.@{}$ -]+){2,}/?")
_REFERENCE = re.compile(
    r"[!*&]?[A-Za-z_][\w-]*(?:(?:\?|!)?(?:\.|::|->)[A-Za-z_]\w*)+(?:[(\[].*)?|[A-Za-z_][\w.:]*[(\[].*"
)
_LETTERS = re.compile(r"[A-Za-z_][A-Za-z_-]*")
_NAMES_A_SECRET = re.compile(r"pass|pwd|secret|token|key|cred|auth", re.IGNORECASE)
_LINE_START = re.compile(r"(?:^|\n|\\n)[ \t]*(?:export[ \t]+|set[ \t]+|env[ \t]+|-[ \t]+|[{,])?[\"']?[\w.-]*$")
_QUERY_START = re.compile(r"(?:[?&;]|\s-[eD]\s?)[\w.-]*$")
_STRONG_WORDS = frozenset({"password", "passwd", "passphrase", "passcode", "secret", "pwd", "pass"})
_BEFORE = 64


def assignments(text: str, lowered: str, words: Sequence[str] = WORDS) -> Iterator[Hit]:
    """Values given to names of secrets. `lowered` is `text` with its ASCII letters in lower case, of equal length.

    `words` are those of `WORDS` that stand in the text.
    """
    for word in words:
        start = lowered.find(word)
        while start >= 0:
            hit = _assignment_at(text, start)
            if hit is not None:
                yield hit
            start = lowered.find(word, start + len(word))


def _assignment_at(text: str, start: int) -> Hit | None:
    name = _NAME.match(text, start)
    if name is None:
        return None
    operator = _OPERATOR.match(text, name.end())
    if operator is None:
        return None
    before = text[max(0, start - _BEFORE) : start]
    if not _operator_fits(operator, name, before) or not _is_name(name["word"], before, operator["sign"]):
        return None
    value = _VALUE.match(text, operator.end())
    if value is None:
        return None
    found, begin, quoted = _value(value)
    if not _is_secret(name["word"].lower(), found, before, operator, quoted, text[begin + len(found) :][:1]):
        return None
    return Hit(begin, begin + len(found), "assignment")


def _operator_fits(operator: re.Match[str], name: re.Match[str], before: str) -> bool:
    if operator["comma"]:
        return bool(name["close"]) and re.search(r"\w\(\s*\\*[\"'][\w.-]*$", before) is not None
    if operator["prose"]:
        return name["word"].lower().startswith(("pass", "pwd"))
    if operator["space"]:
        option = re.search(r"(?:^|\s|[\"'])--?[\w-]*$|(?:^|\n)[ \t]*ENV[ \t]+\w*$", before)
        return option is not None and not name["close"]
    return True


def _is_name(word: str, before: str, sign: str | None) -> bool:
    """Whether `word` after `before` names a secret: `dbPass` and `api_key` do, `bypass` and `sort_key` do not."""
    folded = word.lower()
    if folded == "key":
        return _QUALIFIERS.search(before) is not None
    if folded in ("pass", "pwd", "auth"):
        prefixed = before[-1:].isalnum()
        camel = prefixed and word[0].isupper() and not before[-1:].isupper()
        return (camel or not prefixed) and (folded == "pwd" or before[-1:] in ("_", "-") or camel or sign != ":")
    return True


def _value(match: re.Match[str]) -> tuple[str, int, bool]:
    """The value without its quotes or what follows it, where it starts, and whether it was quoted."""
    for group in ("quoted", "inner"):
        if match[group] is not None:
            return match[group], match.start(group), True
    bare = match["bare"]
    while (end := _BARE_ENDS.search(bare)) is not None and end.start() > 0:
        bare = bare[: end.start()]
    return bare, match.start("bare"), False


def _is_secret(word: str, value: str, before: str, operator: re.Match[str], quoted: bool, after: str) -> bool:
    if len(value) < 4 or is_placeholder(value) or "[REDACTED" in value or "://" in value:
        return False
    if _VERSION.fullmatch(value) or _PATH.fullmatch(value) or (not quoted and _REFERENCE.fullmatch(value)):
        return False
    if any(c.isspace() for c in value):
        return quoted and _is_passphrase(word, value)
    if _PLAIN_NUMBER.fullmatch(value):
        return (
            word.startswith(("passw", "passc", "passp", "pwd"))
            and (quoted or operator["sign"] == "=")
            and len(value) >= 4
        )
    if _LETTERS.fullmatch(value):
        return _is_word_secret(word, value, before, operator, quoted, after)
    if word in _STRONG_WORDS:
        return not (word == "pass" and len(value) < 6)
    return len(value) >= 8 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_passphrase(word: str, value: str) -> bool:
    """Words in quotes: a passphrase unless they read like a label or a message."""
    if value[0].isspace() or word not in _STRONG_WORDS or _NAMES_A_SECRET.search(value):
        return False
    if word == "passphrase":
        return True
    return any(c.isdigit() for c in value) or not (value[0].isupper() or value[-1] in ".!?…:")


def _is_word_secret(word: str, value: str, before: str, operator: re.Match[str], quoted: bool, after: str) -> bool:
    """Letters alone, like `swordfish`: a secret where it is a literal, not where it may be a variable or a word."""
    if _NAMES_A_SECRET.search(value) or operator["comma"] or operator["prose"]:
        return False
    if word not in _STRONG_WORDS:
        return len(value) >= 20 and value.count("-") + value.count("_") < 2 and (quoted or operator["sign"] == "=")
    if quoted:
        return len(value) >= 5
    if operator["tag"] or operator["space"] or operator["encoded"] or operator["sign"] is None:
        return True
    tight = operator[0] in ("=", ":=") or (operator["sign"] == ":" and word != "pass")
    literal = _LINE_START.search(before) or (operator["sign"] != ":" and _QUERY_START.search(before))
    return bool(tight and literal) and after not in (",", ")", "(", ".", "[")
