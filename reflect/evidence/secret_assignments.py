"""Secrets that are known by the name they are given: `password=hunter2`, in the notation of any language or file.

A name may be part of a longer one (`DB_PASSWORD`, `clientSecret`), stand in quotes, carry a type, and be followed by
`=`, `:`, `:=`, `=>`, a tag, a YAML or JSON `value:` or a space after a command-line option. Because names of secrets
are also names of variables, columns and messages, the value decides: see `_is_secret`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reflect.evidence.placeholders import is_placeholder
from reflect.evidence.secret_shapes import BESIDE_AUTH, BESIDE_PASS, Hit

WORDS = ("pass", "pwd", "secret", "token", "key", "credential", "auth")
"""What every name of a secret holds, in lower case."""

WORDS_ABROAD = ("contraseñ", "ароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호")
"""`password` where it is not written in ASCII; of a cased word the part behind its first letter."""

_NAME = re.compile(
    r"""
    (?P<word>pass(?:word|wort|wd|phrase|code|e)?|pwd|secret|token|key|credentials?|auth
            |contraseña|ароль|密码|密碼|口令|パスワード|비밀번호|암호)
    (?:[_-]?(?:key|base|value|string|raw|b64|base64|prod(?:uction)?|staging|stage|dev|test|live|old|new|current
             |default|backup|admin|root|user|[0-9]{1,3})){0,3}
    (?P<close>\*{0,2}(?:\\*["'`])?\]?)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPERATOR = re.compile(
    r"""
      (?:[ \t]*:[ \t]*[&A-Za-z_][\w\[\], |.&<>']{0,40}?(?=[ \t]*=[^=])     # a type
        |[ \t]+[a-z][\w.\[\]*]{0,24}(?=[ \t]*=[ \t]*["'`]))?
      [ \t]*(?P<sign>=>|:=|={1,3}|:(?!:)|：|\|\||\?\?|(?<=[ \t])\|(?=[ \t]))\*{0,2}[ \t]*
      (?:!!?\w+[ \t]+|&\w+[ \t]+)?(?:[|>][+-]?[ \t]*\n[ \t]+)?             # YAML's tags, anchors and blocks
    | (?P<encoded>%3[ad]|\\u003[ad]|&\#(?:58|61);)
    | (?:[ \t]*\n[ \t]*|[ \t]*,\s*|[ \t]+)\\*["']?value\\*["']?[ \t]*[:=][ \t]*
    | (?P<tag>>)(?=[^<>\n]+</)
    | (?P<call>[ \t]*[,(][ \t]*)(?=\\*["'])
    | (?P<space>[ \t]+)(?:(?P<prose>is|was)[ \t]*:?[ \t]+)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VALUE = re.compile(
    r"""
    \[?[bru]{0,2}(?P<quote>\"{3}|'{3}|["'`])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\n]){1,512})(?P=quote)
    | (?P<escaped>\\+["'])(?P<inner>(?:(?!(?P=escaped))[^\n]){1,512})(?P=escaped)
    | \\*["'`]?(?P<bare>[^\s"'`+,;)\].][^\s"'`<]{0,255})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BARE_ENDS = re.compile(r"[,;&](?=$|[\w.-]+[ \t]*[=:])|[)\]}](?=[)\]}.,;])|\\+[\"'nrt]|[,;)\]}>.:!?]+$|&amp;|%26")
_KEY_QUALIFIERS = """
api access auth account private priv secret crypt cipher encryption decryption sign signing signature master shared
service role session jwt hmac webhook license storage deploy ssh ssl tls admin root app application client consumer
subscription ingest rest bot aws openai anthropic claude gemini google azure github gitlab stripe twilio sendgrid
supabase datadog sentry cohere mistral groq algolia mailgun recovery
"""
_QUALIFIERS = tuple(_KEY_QUALIFIERS.split())
"""What makes a key a secret one, before `key`."""

_PLAIN_NUMBER = re.compile(r"[\d\s.,:/%+^~<>=v*x-]+")
_VERSION = re.compile(r"[\^~<>=v ]*\d+\.\d+[\w.+-]*")
_PATH = re.compile(r"(?:[A-Za-z]:|~|\.{1,2})?(?:[/\\][\w.@{}$ -]+){2,}/?")
_REFERENCE = re.compile(
    r"[!*&]?[A-Za-z_][\w-]*(?:(?:\?|!)?(?:\.|::|->)[A-Za-z_]\w*)+(?:[(\[].*)?|[A-Za-z_][\w.:]*[(\[].*"
)
_LETTERS = re.compile(r"(?:[^\W\d]|-)+")
_NAMES_A_SECRET = re.compile(r"pass|pwd|secret|token|key|cred|auth", re.IGNORECASE)
_LINE_START = re.compile(
    r"(?:^|\n|\\n|(?<![\w)\]])\()[ \t]*(?:[>`$%#*+{,-]+[ \t]*)*(?:(?:export|set|env|ENV)[ \t]+)?[\"'`]?[\w.-]*$",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"(?:^|\s|[\"'])--?[\w-]*$|(?:^|\s)(?:ENV|setx|#[ \t]*define)[ \t]+\w*$|login\s+[\w.@+-]{1,48}\s+$"
)
_FIRST_ARGUMENT = re.compile(r"\w\(\s*\\*[\"'][\w.-]*$")
_TABLE_ROW = re.compile(r"\|[ \t*`]*[\w ]*$")
_QUERY_START = re.compile(r"(?:[?&;]|\s-[eD]\s?)[\w.-]*$")
_LITERAL_END = re.compile(r"[ \t]*(?:$|\\*\r?\n|\\n|\\r|\\*[\"'`]|;|&|#|//|\)(?=$|[\s.,;:!?]))|[ \t]+(?=--?\w|\w+=)")
_BESIDE = {"auth": BESIDE_AUTH, "pass": BESIDE_PASS}
_REST = re.compile(r"[^\s\"'`<]*")
_LONGEST_BARE = 256
_BEFORE = 64
_AFTER = 24


@dataclass(frozen=True, slots=True)
class _Given:
    """A value with what stands around it. `closed` says that a quote or bracket ends the name."""

    name: str
    closed: bool
    before: str
    operator: re.Match[str]
    value: str
    quoted: bool
    after: str

    @property
    def word(self) -> str:
        return self.name.lower()

    @property
    def is_password(self) -> bool:
        return _is_password(self.word)

    @property
    def is_strong(self) -> bool:
        """Whether the name is that of a secret and of little else."""
        return self.is_password or self.word in ("secret", "pass")

    @property
    def is_mixed(self) -> bool:
        return any(c.isdigit() for c in self.value) and any(c.isalpha() for c in self.value)

    @property
    def ends_its_line(self) -> bool:
        """Whether the name begins a line and the value ends it, as in a file of settings."""
        return bool(_LINE_START.search(self.before) and _LITERAL_END.match(self.after))


def assignments(text: str, lowered: str, words: Sequence[str]) -> Iterator[Hit]:
    """Values given to names of secrets. `lowered` is `text` with its ASCII letters in lower case, of equal length.

    `words` are those of `WORDS` and `WORDS_ABROAD` that stand in the text.
    """
    for word in words:
        start = lowered.find(word)
        while start >= 0:
            beside = (shape.hit_at(text, start) for shape in _BESIDE.get(word, ()))
            hit = next(filter(None, beside), None) or _assignment_at(text, start)
            if hit is not None:
                yield hit
            start = lowered.find(word, start + len(word) if hit is None else hit.end)


def _assignment_at(text: str, start: int) -> Hit | None:
    name = _NAME.match(text, start)
    operator = _OPERATOR.match(text, name.end()) if name else None
    if name is None or operator is None:
        return None
    before = text[max(0, start - _BEFORE) : start]
    if not _is_name(name["word"], before) or not _operator_fits(operator, name, before):
        return None
    match = _VALUE.match(text, operator.end())
    if match is None:
        return None
    value, begin, quoted = _value(match)
    end = begin + len(value)
    given = _Given(name["word"], bool(name["close"]), before, operator, value, quoted, text[end : end + _AFTER])
    if not _is_secret(given):
        return None
    cut = _REST.match(text, end) if not quoted and len(value) >= _LONGEST_BARE else None
    return Hit(begin, cut.end() if cut else end, "assignment")


def _operator_fits(operator: re.Match[str], name: re.Match[str], before: str) -> bool:
    if name["word"].lower() in ("pass", "passe", "auth"):
        return operator["sign"] is not None and operator[0].lstrip().startswith(operator["sign"])
    call = operator["call"]
    if call is not None and "," in call:
        return bool(name["close"]) and _FIRST_ARGUMENT.search(before) is not None
    if operator["sign"] in ("|", "||", "??"):
        row = _TABLE_ROW.search(before) is not None
        return row if operator["sign"] == "|" else _is_quote(name.string, operator.end())
    if operator["prose"]:
        return _is_password(name["word"].lower())
    if operator["space"] and not _OPTION.search(before):
        return _is_quote(name.string, operator.end())
    return not operator["space"] or not name["close"]


def _is_quote(text: str, at: int) -> bool:
    return text[at : at + 1] in ("'", '"')


def _is_password(word: str) -> bool:
    return word.startswith(("passw", "passc", "passp", "passe", "pwd")) or not word.isascii()


def _is_name(word: str, before: str) -> bool:
    """Whether `word` after `before` names a secret: `dbPass` and `api_key` do, `bypass` and `sort_key` do not."""
    folded = word.lower()
    if before[-10:].lower().rstrip("_-").endswith(("public", "publickey")):
        return False
    if folded == "key":
        return before.rstrip("_-. ").lower().endswith(_QUALIFIERS)
    if folded in ("pass", "passe", "pwd", "auth") and before[-1:].isalnum():
        return word[0].isupper() and not before[-1:].isupper()
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


def _is_secret(given: _Given) -> bool:
    value = given.value
    if len(value) < 4 or is_placeholder(value) or "[REDACTED" in value or "://" in value:
        return False
    if _VERSION.fullmatch(value) or _PATH.fullmatch(value) or (not given.quoted and _REFERENCE.fullmatch(value)):
        return False
    if any(c.isspace() for c in value):
        return given.quoted and _is_passphrase(given)
    if given.word == "pwd" and value[0] in "/~":
        return False
    if given.operator["sign"] == ":" and not given.quoted and value.isidentifier() and _NAMES_A_SECRET.search(value):
        return False
    if _PLAIN_NUMBER.fullmatch(value):
        literal = given.quoted or given.closed or given.operator["sign"] == "=" or len(value) >= 6
        return given.is_password and literal
    if _LETTERS.fullmatch(value):
        return _is_word_secret(given)
    if given.word == "pass":
        return len(value) >= 6 and _is_passed(given)
    return given.is_strong or (len(value) >= 8 and given.is_mixed)


def _is_passed(given: _Given) -> bool:
    """Whether `pass` names a password here and not the outcome of a test, as in `PASS: test_1`."""
    if given.quoted or given.closed or given.operator["sign"] != ":" or given.before[-1:] in ("_", "-"):
        return True
    return given.before[-1:].isalnum() or (given.name == "pass" and given.is_mixed and given.ends_its_line)


def _is_passphrase(given: _Given) -> bool:
    """Words in quotes: a passphrase unless they read like a label or a message."""
    value = given.value
    if not value[0].isalnum() or not given.is_strong or _NAMES_A_SECRET.search(value):
        return False
    if given.operator["call"] or given.operator["space"]:
        return False
    if given.word == "passphrase":
        return True
    return any(c.isdigit() for c in value) or not (value[0].isupper() or value[-1] in ".!?…:")


def _is_word_secret(given: _Given) -> bool:
    """Letters alone, like `swordfish`: a secret where it is a literal, not where it may be a variable or a word."""
    operator, value = given.operator, given.value
    sign = operator["sign"]
    if _NAMES_A_SECRET.search(value) or operator["call"] or operator["prose"] or sign == "|":
        return False
    if not given.is_strong:
        return len(value) >= 20 and value.count("-") + value.count("_") < 2 and (given.quoted or sign == "=")
    if operator["space"]:
        return not given.quoted and _LITERAL_END.match(given.after) is not None
    if given.quoted:
        return len(value) >= 5
    if sign is None:
        return True
    tight = operator[0] in ("=", ":=") or given.is_password or (sign == ":" and given.word != "pass")
    if not tight:
        return False
    queried = sign != ":" and _QUERY_START.search(given.before) and _LITERAL_END.match(given.after)
    return given.ends_its_line or bool(queried)
