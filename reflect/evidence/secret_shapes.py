"""Secrets that are known by their own shape: the prefixes providers give their tokens, key blocks, credentials in
addresses and headers.

Sources: the rules of gitleaks v8 and of Entire's redactor, and the token formats the providers document. A pattern
starts with a literal where it can, because the regular expression engine finds a literal by far the fastest; the
look-behind that keeps `task-…` from being read as `sk-…` therefore stands after its literal.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from reflect.evidence.placeholders import is_placeholder


class Hit(NamedTuple):
    """Where a secret stands in a text, and the rule that found it."""

    start: int
    end: int
    rule: str


_NAME = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,39}")
"""What may be a word, a variable or a path of attributes: letters alone."""


def _always(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Shape:
    """One rule. A match holds one of `anchors`; what goes is the group `secret`, else the whole match."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[str], bool] = _always

    def hits(self, text: str) -> Iterator[Hit]:
        """What the pattern finds anywhere in `text`."""
        return (self._hit(match) for match in self.pattern.finditer(text) if self._accepts(match))

    def hit_at(self, text: str, start: int) -> Hit | None:
        """What the pattern finds exactly from `start` on."""
        match = self.pattern.match(text, start)
        return self._hit(match) if match is not None and self._accepts(match) else None

    def hits_at_anchors(self, text: str, lowered: str) -> Iterator[Hit]:
        """What the pattern finds from an anchor on. `lowered` is `text` in lower case, of equal length.

        Finding a plain word is a hundred times faster than trying an expression at every character.
        """
        for anchor in self.anchors:
            start = lowered.find(anchor)
            while start >= 0:
                hit = self.hit_at(text, start)
                if hit is not None:
                    yield hit
                start = lowered.find(anchor, start + 1 if hit is None else hit.end)

    def _accepts(self, match: re.Match[str]) -> bool:
        return self.accept(match[_group(match)])

    def _hit(self, match: re.Match[str]) -> Hit:
        return Hit(*match.span(_group(match)), self.name)


def _group(match: re.Match[str]) -> str | int:
    return "secret" if "secret" in match.re.groupindex else 0


def _shape(name: str, anchors: str, pattern: str, accept: Callable[[str], bool] = _always) -> Shape:
    return Shape(name, tuple(anchors.split()), re.compile(pattern), accept)


def _begins(word: str) -> str:
    """An expression for `word` where no token character stands before it; an escaped line end may."""
    return rf"{word}(?:(?<![A-Za-z0-9+/_-]{word})|(?<=\\[nrt]{word}))"


def _mixed(token: str) -> bool:
    """Whether digits and letters are mixed as in a generated token, unlike in a hyphenated name."""
    return any(c.isdigit() for c in token) and (
        (any(c.isupper() for c in token) and any(c.islower() for c in token))
        or re.search(r"[0-9a-f]{24}", token) is not None
    )


def _is_login(token: str) -> bool:
    """Whether `token` is the base64 of `user:password`."""
    try:
        plain = base64.b64decode(token + "=" * (-len(token) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in plain and plain.isprintable()


def _real(token: str) -> bool:
    return not is_placeholder(token)


def _credential(token: str) -> bool:
    return _real(token) and not _NAME.fullmatch(token)


PROVIDERS: tuple[Shape, ...] = (
    _shape(
        "aws",
        "AKIA ASIA ABIA ACCA AROA AIDA",
        r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)(?<![A-Za-z0-9]....)[A-Z0-9]{16,}(?![a-z])"
        r"|(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)(?<=\\[nrt]....)[A-Z0-9]{16,}",
    ),
    _shape(
        "github",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{20,}|ghs_\d+_eyJ[A-Za-z0-9_.-]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    ),
    _shape(
        "gitlab",
        "glpat- gldt- glrt- glrtr- glptt- glcbt- glsoat- glft- glimt- glagent- gloas- glffct- GR1348941",
        r"gl(?:pat|dt|rtr?|ptt|cbt|soat|ft|imt|agent|oas|ffct)-[A-Za-z0-9_=-]{20,}(?:\.[A-Za-z0-9_-]{2,}){0,3}"
        r"|GR1348941[A-Za-z0-9_-]{20,}",
    ),
    _shape("slack", "xox xapp-", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"),
    _shape(
        "slack",
        "slack.com/",
        r"slack\.com/(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/_-]{16,})",
    ),
    _shape("discord", "api/webhooks/", r"api/webhooks/\d{15,22}/(?P<secret>[A-Za-z0-9_-]{40,})"),
    _shape(
        "stripe",
        "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_ whsec_",
        r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=_-]{16,}",
    ),
    _shape(
        "google",
        "AIza GOCSPX- ya29. 1//0",
        r"AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,}",
    ),
    _shape("anthropic", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    _shape(
        "openai",
        "sk-",
        r"sk-(?:(?<![A-Za-z0-9]sk-)|(?<=\\[nrt]sk-))(?!ant-)(?:proj-|svcacct-|admin-|None-|or-v1-|[a-z]{2}-)?"
        r"[A-Za-z0-9_-]{20,300}",
        _mixed,
    ),
    _shape("npm", "npm_", rf"{_begins('npm_')}[A-Za-z0-9]{{30,}}"),
    _shape("pypi", "pypi-", r"pypi-[A-Za-z0-9_-]{32,300}", _mixed),
    _shape("sendgrid", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _shape("mailgun", "key-", r"key-(?<![A-Za-z0-9]key-)[0-9a-f]{32}(?![0-9a-f])"),
    _shape("twilio", "SK AC", r"SK[0-9a-f]{32}(?![0-9a-zA-Z])|AC[0-9a-f]{32}(?![0-9a-zA-Z])"),
    _shape("supabase", "sb_secret_ sbp_", r"sb_secret_[A-Za-z0-9_-]{16,}|sbp_(?:v0_)?[0-9a-f]{32,}"),
    _shape("huggingface", "hf_ api_org_", rf"{_begins('hf_')}[A-Za-z0-9]{{30,}}|api_org_[A-Za-z0-9]{{30,}}"),
    _shape("digitalocean", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-fA-F]{32,}"),
    _shape("databricks", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _shape("shopify", "shpat_ shpss_ shpca_ shppa_", r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}"),
    _shape("linear", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    _shape("notion", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{40,}"),
    _shape("age", "AGE-", r"AGE-SEC[R]ET-KEY-1[0-9A-Z]{50,}"),
    _shape("grafana", "glsa_ glc_", r"glsa_[A-Za-z0-9]{20,}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/=]{32,}"),
    _shape("vault", "hvs. hvb.", r"hv[sb]\.[A-Za-z0-9_-]{20,}"),
    _shape("doppler", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    _shape("azure", "sig=", r"sig=(?<![A-Za-z0-9]sig=)(?P<secret>[A-Za-z0-9%+/_-]{30,}={0,2})"),
    _shape(
        "azure",
        "Key= key=",
        r"[Kk]ey=(?:(?<=[Aa]ccount.{4})|(?<=SharedAccess.{4}))(?P<secret>[A-Za-z0-9+/]{20,}={0,2})",
    ),
    _shape("telegram", ":A", r":(?<=\d{8}:)(?P<secret>A[A-Za-z0-9_-]{34})(?![A-Za-z0-9_-])"),
    _shape("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{10,2048}\.(?:[A-Za-z0-9_-]*\.){0,3}[A-Za-z0-9_-]{10,}\.?[A-Za-z0-9_-]*"),
)
"""Tokens that begin at an anchor and hold at least sixteen letters, digits, `+`, `/`, `_` or `-` in a row, at most
twelve characters after the anchor's beginning."""

_ARGUMENTS = r"(?:[^\n|;&]|\\\r?\n){0,300}?[\s\"']"

BESIDE_AUTH: tuple[Shape, ...] = (
    _shape(
        "authorization",
        "auth",
        r"(?i)authorization\\*[\"']?\]?[ \t]*[:=,][ \t]*(?:[bf](?=[\"']))?\\*[\"'`]?"
        r"(?:bearer|basic|token|digest|apikey|bot|negotiate)[ \t]+(?P<secret>[A-Za-z0-9._~+/=:%-]{6,})",
        _real,
    ),
    _shape(
        "authorization",
        "auth",
        r"(?i)authorization\\*[\"']?\]?[ \t]*[:=][ \t]*(?:[bf](?=[\"']))?\\*[\"'`]?"
        r"(?P<secret>[A-Za-z0-9_~+/=:%-][A-Za-z0-9._~+/=:%-]{11,})(?![\w.]*[(\[])",
        _credential,
    ),
    _shape(
        "login",
        "auth",
        r"auth(?:=|\()[ \t]*\(?[ \t]*[\"'][^\"'\n]{1,128}[\"'][ \t]*,[ \t]*[\"'](?P<secret>[^\"'\n]{3,128})[\"']",
        _real,
    ),
)
"""Headers and arguments that begin with `auth`."""

BESIDE_PASS: tuple[Shape, ...] = (
    _shape("login", "pass", r"(?i)pass(?:in|out)[ =]pass:(?P<secret>[^\s\"'`\\]{3,})", _real),
    _shape("login", "pass", r"(?i)pass(?<=sshpass)\s+-p\s*[\"']?(?P<secret>[^\s\"']{3,})", _real),
)
"""Options of commands that begin with `pass`."""

SCHEMES: tuple[Shape, ...] = (
    _shape(
        "bearer",
        "bearer",
        r"(?i)bearer(?:(?<![a-z]bearer)|(?<=\\[nrt]bearer))(?:[ \t]+|%20)(?P<secret>[A-Za-z0-9._~+/=-]{8,})",
        _credential,
    ),
    _shape(
        "basic",
        "basic",
        r"(?i)basic(?:(?<![a-z]basic)|(?<=\\[nrt]basic))(?:[ \t]+|%20)(?P<secret>[A-Za-z0-9+/_-]{6,}={0,2})",
        _is_login,
    ),
    _shape(
        "login",
        "identified ",
        r"(?i)identified\s+(?:with\s+\S{1,64}\s+)?(?:by|as)\s+(?:password\s+)?[\"'](?P<secret>[^\"'\n]{3,})[\"']",
        _real,
    ),
)
"""What follows a scheme of HTTP authorization or an account in SQL. A match begins at its anchor, in lower case."""

COMMANDS: tuple[Shape, ...] = (
    _shape(
        "login",
        "curl",
        rf"(?i)curl\b{_ARGUMENTS}(?:-u|--user|-U|--proxy-user)(?:\s+|=)?\\*[\"']?"
        r"[^\s:\"'\\]{1,128}:(?P<secret>[^\s\"'\\]{1,256})",
        _real,
    ),
    _shape(
        "login", "docker login", rf"(?i)docker login\b{_ARGUMENTS}-p[ =]*\\*[\"']?(?P<secret>[^\s\"'\\]{{4,}})", _real
    ),
    _shape("login", "mysql", rf"mysql(?:dump|admin|import)?\b{_ARGUMENTS}-p[\"']?(?P<secret>[^\s\"'\\]{{4,}})", _real),
    _shape("login", "redis-cli", rf"redis-cli\b{_ARGUMENTS}-a[ =]*[\"']?(?P<secret>[^\s\"'\\]{{4,}})", _real),
)
"""Command lines that hold a password. A match begins at its anchor, looked for in lower case."""

ENTRA = Shape("azure", ("Q~",), re.compile(r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"))
"""A client secret of Microsoft Entra; `~` and `.` may break its runs of token characters."""

_AUTHORITY = re.compile(r"://[^\s\"'<>`\\]{1,640}@")
_PASSWORD = re.compile(r"://[^\s/:@\"'<>`\\?#]{0,128}:(?P<secret>[^\s/\"'<>`?#]{1,512})@(?=[\w\[.-])")
_USER_TOKEN = re.compile(r"://(?P<secret>[A-Za-z0-9_-]{20,})@(?=[\w\[.-])")
_RAW_PASSWORD = re.compile(r"://[^\s:@/\"'<>`]{0,128}:(?!\d{1,5}/)(?P<secret>[^\s\"'<>`,;]{1,256})@(?=[\w\[.-])")
_DATABASE = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|snowflake)"
    r"(?:\+[a-z0-9]+)?$",
    re.IGNORECASE,
)


def address_credentials(text: str) -> Iterator[Hit]:
    """Passwords and tokens before the `@` of an address. A database's password may hold a raw slash."""
    start = text.find("://")
    while start >= 0:
        if _AUTHORITY.match(text, start):
            yield from _credentials_at(text, start)
        start = text.find("://", start + 3)


def _credentials_at(text: str, start: int) -> Iterator[Hit]:
    raw = _DATABASE.search(text, max(0, start - 32), start) is not None
    password = (_RAW_PASSWORD if raw else _PASSWORD).match(text, start)
    token = _USER_TOKEN.match(text, start)
    if password is not None and not is_placeholder(password["secret"]):
        yield Hit(*password.span("secret"), "url")
    if token is not None and _mixed(token["secret"]):
        yield Hit(*token.span("secret"), "url")
