"""Secrets go, whatever stands around them; ids, hashes and ordinary text stay."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.secret_families import BASE62, FAMILIES, Maker
from reflect.evidence.redaction import Redactor

NAMED = (Path(__file__).parents[1] / "data" / "secrets" / "named.txt").read_text(encoding="utf-8").splitlines()
"""Ways to give `hunter2` the name of a secret, one a line."""

SAMPLE = Path(__file__).parents[3] / "shared" / "data" / "sample-repository.bundle"


SURROUNDINGS = (
    "{}",
    "before\n{}\nafter",
    "前の文\n{}\nその後",
    "- {}\n",
    "`{}`",
    "\t{} ",
    "> {}\r\n",
    'said "see\\n{}\\nthere"',
    "it is in the file ({}), please",
    "in the vault instead of the file ({})",
)


def planted(name: str) -> list[tuple[str, str]]:
    make, form = FAMILIES[name]
    maker = Maker(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))
    return [(secret, form.format(secret)) for secret in (make(maker) for _ in range(12))]


@pytest.mark.parametrize("name", FAMILIES, ids=lambda name: f"hazard-120-{name}")
def test_secret_goes_and_the_text_around_it_stays(name: str) -> None:
    redactor = Redactor()
    for secret, line in planted(name):
        for surrounding in SURROUNDINGS:
            text = surrounding.format(line)
            redacted = redactor.redact(text)
            assert secret not in redacted
            assert not any(
                len(part) >= 12 and part in redacted for part in secret.replace("\\n", "\n").splitlines()[1:-1]
            )
            before, after = surrounding.split("{}")
            assert redacted.startswith(before) and redacted.endswith(after)
            assert redactor.redact(redacted) == redacted
            assert redactor.finds(redacted) == ()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("postgres://u:hunter2@db/x", "url"),
        ("AKIAIOSFODNN7EXAMPLE", "aws"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----", "pem"),
        ("password=hunter2", "assignment"),
    ],
    ids=["hazard-116-url", "hazard-116-aws", "hazard-116-pem", "hazard-116-password"],
)
def test_hazard_116_what_entropy_alone_misses(text: str, rule: str) -> None:
    redactor = Redactor()
    assert redactor.finds(text) == (rule,)
    assert f"[REDACTED:{rule}]" in redactor.redact(text)
    assert redactor.count == 1


def test_hazard_118_a_commit_id_survives_beside_a_hex_token() -> None:
    commit, token = hashlib.sha1(b"commit").hexdigest(), hashlib.sha1(b"token").hexdigest()
    redactor = Redactor(keep={commit, "4ecb34b81a12", "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
    text = (
        f"Reverts {commit} ({commit[:7]}).\ntoken={token}\nsecret: {commit}\nkey_token = '{commit[:12]}'\n"
        "password: 4ecb34b81a12\nauth_token=01ARZ3NDEKTSV4RRFFQ69G5FAV\ntoken: 4ecb34b81a12/0"
    )
    assert redactor.redact(text) == text.replace(token, "[REDACTED:assignment]")
    assert redactor.redact(f"password: 'see {commit} 1'").count(commit) == 1


@pytest.mark.parametrize("line", NAMED)
def test_hazard_116_a_weak_password_goes_in_every_notation(line: str) -> None:
    redactor = Redactor()
    for text in (line, f"first\n{line}\nlast", f"- {line}", f"see: {line}"):
        redacted = redactor.redact(text)
        assert "hunter2" not in redacted
        assert redactor.redact(redacted) == redacted


def test_custom_expressions_join_in_and_spare_ids() -> None:
    redactor = Redactor(custom=[r"ACME-\d{4}", r"customer (?P<secret>\w+)", r"\b[0-9a-f]{7,}\b"], keep={"4ecb34b81a12"})
    assert redactor.redact("ACME-1234 for customer Ada in 4ecb34b81a12, not deadbeefcafe") == (
        "[REDACTED:custom-1] for customer [REDACTED:custom-2] in 4ecb34b81a12, not [REDACTED:custom-3]"
    )


@pytest.mark.parametrize("pattern", [r"\w+", r".*", r"(?s).+", r"RED\w+", r"", r"\[REDACTED:\w+"])
def test_a_custom_expression_that_meets_the_marker_ends(pattern: str) -> None:
    redactor = Redactor(custom=[pattern])
    once = redactor.redact("a b\npassword=hunter2 c")
    assert "hunter2" not in once
    assert redactor.redact(once) == once


INNOCENT = {
    "placeholders": """
        password=<your-password> PASSWORD=$DB_PASSWORD PASSWORD=${DB_PASSWORD} token={{ token }} secret=%(secret)s
        password=******** password: null token=None api_key=your-api-key-here password="changeme" secret: REDACTED
    """,
    "code": """
        def connect(user: str, password: str | None = None, token: Optional[str] = None) -> None:
            login(user=user, password=password, token=get_token(), secret=self.config.secret, key=key)
            password = os.environ["DB_PASSWORD"]; token = request.headers.get("x"); api_key = settings.api_key
            if token == other_token and max_tokens: 4096
            sort_key = lambda row: row.created; primary_key: int = 1; cache_key=f"{user}:{page}"
            interface Login { password: string; token: string }
            headers["Authorization"] = self.build_auth_header(request); authorization = request.headers["Authorization"]
            BEGIN = b"-----BEGIN PRIVATE KEY-----"; END = b"-----END PRIVATE KEY-----"
            raise ValueError("pass orient='index' or pass encoding='infer'"); _highs_to_scipy_status_message(x)
            PASS: test_foo1, pass: test_bar2 in 3 s
            get_secret | sha256sum; cat token | base64 -d; CPyBytesWriter_WriteI16LE(w); Shared3DHSecret::expand()
            private_key: PKCS7PrivateKeyTypes, update(PWD="/tmp"), publicKeyToken="1fc8b3b9a1e18e3b"
    """,
    "prose": """
        The password is required. Token: expired. The secret is out, pass: 12 of 14 tests. Basic authentication and
        Bearer authentication work; the token is invalid. A key: value pair, bypass: yes, compass: north, tokens: 4096.
        See https://example.com:8080/a?mail=me@example.com and http://localhost:3000/@scope/name.
    """,
    "names": """
        src/components/AuthenticationProviderFactory/handleOAuth2CallbackForUserProfile.test.tsx
        task-runner-concurrency-limits-v2 sk-fading-circle-animation-variant2 test_HTTP2_connection_is_reused_after_RST
        /private/tmp/claude-501/-Users-dev-Repos-reflect/e18cbd2f-b12e-4656-8c67-1552eb9f1a2b/tasks/b1x2.output
        https://claude.ai/code/session_017Apv1ffJUpBe6xEmEd45Md toolu_01D7FLrfh4GYq7yT1ULFeyMV
        anthropic.claude-sonnet-4-5-20250929-v1:0 MAX_CONCURRENT_TASK_RUNS_PER_WORKER_V2
    """,
    "lock-files": """
        pandas/io/sql.py,sha256=ohf_xX2TRMtlwP1e93WawB9QlLW0cByINkF6HN6Evv4,3689
        Change-Id: If91f61527236fd4d7ae3cad1f24c38be921c90ba
        "integrity": "sha512-rYyBfhbG1SdpW5IqkVtQ0hDbC1mU2tHhPqYbEFnbF0nD8bQ9jvZpXJqkz6JmBf6qWnDg7vC5YxUoPqLsWmKjAA=="
        "js-tokens": "^4.0.0", "jsonwebtoken": "^9.0.2", "csrf-token": "1.0.0-rc.1",
        resolved "https://registry.yarnpkg.com/token/-/token-1.0.0.tgz#0123456789abcdef0123456789abcdef01234567"
        integrity sha1-3RpPqX9oOJxpWFLXqPGnGDLNxhM=
        golang.org/x/crypto v0.1.0 h1:MDRAIl0xIo9Io2xV565hzXHw3zVseKrJKodhohM5CjU=
        checksum = "a3f1e2d4c5b6a7988f0e1d2c3b4a59687f6e5d4c3b2a1908f7e6d5c4b3a29180"
        name = "secret"
        version = "1.0.0"
        --hash=sha256:a3f1e2d4c5b6a7988f0e1d2c3b4a59687f6e5d4c3b2a1908f7e6d5c4b3a29180
        RECORD,sha256=Vl5mN1kTqP0aXyZ8cR3bQwE7uJ9oLdS2fGhKxMzB4tI,1024
    """,
}


@pytest.mark.parametrize("name", INNOCENT)
def test_ordinary_text_stays(name: str) -> None:
    assert Redactor().redact(INNOCENT[name]) == INNOCENT[name]


def test_ids_hashes_and_encoded_files_stay() -> None:
    maker = Maker(7)
    image = base64.b64encode(b"\x89PNG\r\n\x1a\n" + maker.random.randbytes(900)).decode()
    certificate = "\n".join(base64.b64encode(maker.random.randbytes(48)).decode() for _ in range(8))
    lines = [f"data:image/png;base64,{image}", certificate]
    for _ in range(300):
        raw = maker.random.randbytes(64)
        ulid = maker.of("01234567", 1) + maker.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 25)
        lines += [
            str(uuid.UUID(bytes=raw[:16])),
            f"{uuid.UUID(bytes=raw[:16])}.jsonl",
            hashlib.sha1(raw).hexdigest(),
            f"commit {hashlib.sha1(raw).hexdigest()[:9]} checkpoint {hashlib.sha1(raw).hexdigest()[:12]} {ulid}",
            hashlib.sha256(raw).hexdigest(),
            f"sha512-{base64.b64encode(raw).decode()}",
            f"SHA256:{base64.b64encode(raw[:32]).decode().rstrip('=')}",
            base64.b64encode(b"The quick brown fox jumps over the lazy dog"[raw[0] % 20 :]).decode(),
            f"toolu_01{maker.of(BASE62, 22)} msg_01{maker.of(BASE62, 22)} req_011{maker.of(BASE62, 21)}",
        ]
    text = "\n".join(lines)
    assert Redactor().redact(text) == text


PIECES = """
password secret token api_key = : " \\ [REDACTED:url] ] :// @ u , hunter2 Bearer sk- ghp_ é İ . - curl -u key Basic auth
xK9mQ2vL8pR4tY7wZ1nB5cD3fG6h AKIAIOSFODNN7EXAMPLE eyJhbGciOiJIUzI1NiJ9
"""
FRAGMENTS = st.sampled_from(
    [*PIECES.split(), " ", "\n", "\ud800", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=8)), max_size=24).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    redactor = Redactor()
    once = redactor.redact(text)
    assert redactor.redact(once) == once
    assert redactor.finds(once) == ()


HOSTILE = (
    "token ",
    "curl -u ",
    "bearer ",
    "[REDACTED:url] x=",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----\nAAAA\n",
)


@pytest.mark.parametrize(
    "piece",
    ["a", "aB3", "key", "password=", "eyJ", "://a:", "postgres://a:", "auth=(", "\\n", "sk-", "pypi-a", *HOSTILE],
)
def test_one_piece_repeated_costs_time_in_proportion(piece: str) -> None:
    started = time.process_time()
    Redactor().redact(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 3


def test_same_text_gives_same_bytes_and_a_count() -> None:
    text = json.dumps([line for name in FAMILIES for _, line in planted(name)[:1]])
    first, second = Redactor(), Redactor()
    assert first.redact(text) == second.redact(text)
    assert first.count == second.count > len(FAMILIES) // 2


@pytest.mark.skipif(not SAMPLE.exists(), reason=f"the sample repository is not at {SAMPLE}")
def test_nothing_of_a_real_history_is_eaten(tmp_path: Path) -> None:
    clone = tmp_path / "sample"
    subprocess.run(["git", "clone", "-q", "--bare", SAMPLE, clone], check=True, capture_output=True)

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True)
        return done.stdout.decode("utf-8", "replace")

    commits = git("log", "--all", "--format=%H").split()
    texts = [git("log", "--all", "--format=%H %h %s%n%b"), git("ls-tree", "-r", "--full-tree", "entire/checkpoints/v1")]
    metadata = [
        name for name in git("ls-tree", "-r", "--name-only", "entire/checkpoints/v1").split() if "metadata" in name
    ]
    texts += [git("show", f"entire/checkpoints/v1:{name}") for name in metadata]
    redactor = Redactor(keep=frozenset(commits))
    assert len(commits) > 60 and len(metadata) > 20
    assert [redactor.finds(text) for text in texts] == [()] * len(texts)
