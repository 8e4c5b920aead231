"""Secrets to plant, made by rule: one family for each provider, notation and shape that the redactor must know."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

LETTERS = string.ascii_letters
BASE62 = LETTERS + string.digits
BASE64 = BASE62 + "+/"
URL_SAFE = BASE62 + "_-"
HEX = "0123456789abcdef"


class Maker:
    """Makes secrets. The same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def mixed(self, alphabet: str, length: int) -> str:
        """With an upper-case letter, a lower-case letter and a digit in it."""
        while True:
            made = self.of(alphabet, length)
            if any(map(str.isupper, made)) and any(map(str.islower, made)) and any(map(str.isdigit, made)):
                return made

    def word(self) -> str:
        return self.random.choice(["swordfish", "letmein", "trustno", "dragonfly", "moonlight"])

    def weak(self) -> str:
        return self.word() + self.of(string.digits, 1)

    def segment(self, length: int) -> str:
        raw = bytes(self.random.randrange(32, 127) for _ in range(length))
        return base64.urlsafe_b64encode(b'{"a":"' + raw + b'"}').decode().rstrip("=")

    def key_body(self, lines: int, end: str = "\n") -> str:
        return end.join(self.of(BASE64, 64) for _ in range(lines)) + end + self.of(BASE64, 22) + "=="


Family = tuple[Callable[[Maker], str], str]
"""Makes a secret, and the text it stands in, with `{}` in its place."""

FAMILIES: dict[str, Family] = {
    "aws-key-id": (lambda m: "AKIA" + m.of(string.ascii_uppercase + string.digits, 16), "{}"),
    "aws-session-key-id": (lambda m: "ASIA" + m.of(string.ascii_uppercase + string.digits, 16), "id {}"),
    "aws-secret-beside-id": (lambda m: m.mixed(BASE64, 40), "AKIAIOSFODNN7ABCDEFG,{}"),
    "aws-secret-named": (lambda m: m.mixed(BASE64, 40), "aws_secret_access_key = {}"),
    "github-classic": (lambda m: m.random.choice(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]) + m.of(BASE62, 36), "{}"),
    "github-fine-grained": (lambda m: f"github_pat_{m.of(BASE62, 22)}_{m.of(BASE62, 59)}", "{}"),
    "gitlab": (lambda m: "glpat-" + m.of(URL_SAFE, 20), "{}"),
    "slack": (lambda m: f"xoxb-{m.of(string.digits, 12)}-{m.of(string.digits, 12)}-{m.of(BASE62, 24)}", "{}"),
    "slack-webhook": (
        lambda m: f"T{m.of(string.digits, 8)}/B{m.of(string.digits, 8)}/{m.of(BASE62, 24)}",
        "https://hooks.slack.com/services/{}",
    ),
    "stripe": (lambda m: m.random.choice(["sk_live_", "rk_live_", "sk_test_"]) + m.of(BASE62, 24), "{}"),
    "google": (lambda m: "AIza" + m.of(URL_SAFE, 35), "{}"),
    "anthropic": (lambda m: f"sk-ant-api03-{m.of(URL_SAFE, 93)}AA", "{}"),
    "openai-project": (lambda m: "sk-proj-" + m.mixed(URL_SAFE, 48), "{}"),
    "openai": (lambda m: "sk-" + m.mixed(BASE62, 48), "{}"),
    "npm": (lambda m: "npm_" + m.of(BASE62, 36), "{}"),
    "pypi": (lambda m: "pypi-AgEIcHlwaS5vcmc" + m.mixed(URL_SAFE, 60), "{}"),
    "sendgrid": (lambda m: f"SG.{m.of(URL_SAFE, 22)}.{m.of(URL_SAFE, 43)}", "{}"),
    "twilio": (lambda m: "SK" + m.of(HEX, 32), "{}"),
    "supabase": (lambda m: "sb_secret_" + m.of(URL_SAFE, 31), "{}"),
    "huggingface": (lambda m: "hf_" + m.of(BASE62, 34), "{}"),
    "digitalocean": (lambda m: "dop_v1_" + m.of(HEX, 64), "{}"),
    "telegram": (lambda m: f"AA{m.of(URL_SAFE, 33)}", "https://api.telegram.org/bot7012345678:{}"),
    "azure-storage": (
        lambda m: m.of(BASE64, 86) + "==",
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
    ),
    "azure-signature": (
        lambda m: m.mixed(BASE62, 43) + "%3D",
        "https://x.blob.core.windows.net/c?sv=2024-01-01&sig={}",
    ),
    "azure-client-secret": (lambda m: f"{m.of(BASE62, 3)}8Q~{m.of(BASE62 + '_~.-', 33)}x", "{}"),
    "jwt": (lambda m: f"eyJ{m.segment(12)}.eyJ{m.segment(30)}.{m.of(URL_SAFE, 43)}", "{}"),
    "pem": (
        lambda m: f"-----BEGIN RSA PRIVATE KEY-----\n{m.key_body(4)}\n-----END RSA PRIVATE KEY-----",
        "{}",
    ),
    "pem-escaped": (
        lambda m: rf"-----BEGIN PRIVATE KEY-----\n{m.key_body(4, chr(92) + 'n')}\n-----END PRIVATE KEY-----\n",
        "{}",
    ),
    "pem-cut-off": (lambda m: f"-----BEGIN OPENSSH PRIVATE KEY-----\n{m.key_body(3)}", "{}"),
    "pem-beginning-lost": (lambda m: f"{m.key_body(3)}\n-----END EC PRIVATE KEY-----", "{}"),
    "pgp": (
        lambda m: f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{m.key_body(3)}\n-----END PGP PRIVATE KEY BLOCK-----",
        "{}",
    ),
    "url-password": (lambda m: m.weak(), "postgres://u:{}@db/x"),
    "url-password-raw-slash": (lambda m: f"{m.word()}/{m.weak()}", "mongodb+srv://u:{}@db.example.com/x"),
    "url-password-raw-at": (lambda m: f"{m.word()}@{m.weak()}", "https://u:{}@example.com/path"),
    "url-token": (lambda m: m.mixed(BASE62, 32), "https://{}@git.example.com/x.git"),
    "bearer": (lambda m: m.mixed(BASE62, 20), "Authorization: Bearer {}"),
    "bearer-json": (lambda m: m.mixed(BASE62, 20), '{{"authorization": "bEaReR {}"}}'),
    "basic": (lambda m: base64.b64encode(f"u:{m.weak()}".encode()).decode(), "BASIC {}"),
    "curl-user": (lambda m: m.weak(), "curl -sS -u admin:{} https://example.com"),
    "curl-user-quoted": (lambda m: m.weak(), "curl https://example.com \\\n  --user 'admin:{}'"),
    "env": (lambda m: m.weak(), "password={}"),
    "env-word": (lambda m: m.word(), "export PGPASSWORD={}"),
    "env-upper": (lambda m: m.weak(), "DB_PASSWORD={}"),
    "env-quoted": (lambda m: m.word(), 'DB_PASSWORD="{}"'),
    "any-case": (lambda m: m.weak(), "PaSsWoRd={}"),
    "ini": (lambda m: m.word(), "password = {}"),
    "json": (lambda m: m.word(), '{{"db": {{"password": "{}", "port": 5432}}}}'),
    "json-number": (lambda m: m.of("123456789", 8), '{{"password": {}}}'),
    "json-in-json": (lambda m: m.weak(), '{{\\"clientSecret\\": \\"{}\\"}}'),
    "json-name-value": (lambda m: m.weak(), '{{"name": "DB_PASSWORD", "value": "{}"}}'),
    "yaml": (lambda m: m.word(), "db:\n  password: {}\n  port: 5432"),
    "yaml-pass": (lambda m: m.weak(), "user: ada\npass: {}"),
    "yaml-name-value": (lambda m: m.weak(), "- name: DB_PASSWORD\n  value: {}"),
    "typed": (lambda m: m.word(), 'const password: string = "{}";'),
    "go": (lambda m: m.weak(), 'apiSecret := "{}"'),
    "ruby": (lambda m: m.word(), ":password => '{}'"),
    "php": (lambda m: m.weak(), "define('DB_PASSWORD', '{}');"),
    "xml": (lambda m: m.word(), "<Password>{}</Password>"),
    "query": (lambda m: m.word(), "https://example.com/login?user=a&password={}&next=b"),
    "url-encoded": (lambda m: m.weak(), "password%3D{}%26next"),
    "option": (lambda m: m.weak(), "deploy --password {} --verbose"),
    "dotenv-token": (lambda m: m.of(HEX, 32), "API_TOKEN={}"),
    "api-key-header": (lambda m: m.of(HEX, 32), "X-Api-Key: {}"),
    "subscript": (lambda m: m.weak(), "os.environ['APP_SECRET'] = '{}'"),
    "passphrase": (lambda m: f"{m.word()} {m.word()} {m.word()}", "passphrase: '{}'"),
    "netrc": (lambda m: m.weak(), "machine example.com login ada password {}"),
    "prose": (lambda m: m.weak(), "the password is {}, do not tell"),
    "entropy-24": (lambda m: m.mixed(BASE62, 24), "use {} for it"),
    "entropy-40": (lambda m: m.mixed(URL_SAFE, 40), "{}"),
    "entropy-64": (lambda m: m.mixed(BASE64, 64), "value {}"),
}
