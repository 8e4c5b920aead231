"""Whether a secret gets out: ten of every family through the whole product, and what is redacted that should not be.

`python -m benchmarks.planted_secrets [--sample REPOSITORY] [--record]`
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.evidence import Floor, Proof
from benchmarks.orchestration import server
from benchmarks.planted_secrets.whole import Planted, leaks, left_by_a_night, plant, planted
from reflect.evidence.redaction import Redactor

FAMILIES = 30
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_LOCKS = ("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "uv.lock", "poetry.lock", "Cargo.lock", "go.sum")
_IN_A_SENTENCE = "It broke with {} and was mended."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=Path, help="a repository or bundle whose ids and files must survive")
    chosen, _ = parser.parse_known_args()
    secrets = planted()
    recalled = Counter(one.family for one in secrets if not one.shown_in(Redactor().redact(one.line)))
    with tempfile.TemporaryDirectory() as place, server(Path(place)) as address:
        repository = plant(Path(place) / "shop", secrets).path
        ways = left_by_a_night(Path(place) / "night", repository, address, Path(place) / "server")
    found = leaks(secrets, ways)
    families = len({one.family for one in secrets})
    empty = [way for way, text in ways.items() if not text and way != "review"]
    floors = [
        Floor("families planted", str(families), f"at least {FAMILIES}", families >= FAMILIES),
        Floor.all("secrets that the redactor takes out", recalled.total(), len(secrets)),
        Floor.none("secrets in anything that a night left or said", found),
        Floor.none("ways that left nothing, and prove nothing", empty),
    ]
    details = [*_by_way(secrets, ways), *_by_family(secrets, recalled), *(f"- {one}" for one in found[:40])]
    if chosen.sample:
        eaten = list(_eaten(chosen.sample))
        floors += [Floor.none(f"{what} taken for a secret, of {of}", lost) for what, of, lost, held in eaten if held]
        told = [f"{what}: {len(lost)} of {of}" for what, of, lost, held in eaten if not held]
        details.append(f"\nRedacted and no secret, on the sample repository: {'; '.join(told)}.")
    command = "python -m benchmarks.planted_secrets --sample REPOSITORY"
    return Proof("secrets", "Planted secrets", command, floors, "\n".join(details)).show()


def _by_way(secrets: Sequence[Planted], ways: dict[str, str]) -> Iterator[str]:
    yield "| way out | characters looked through | secrets in it |\n|---|---:|---:|"
    for way, text in ways.items():
        yield f"| {way} | {len(text):,} | {sum(one.shown_in(text) for one in secrets)} |"


def _by_family(secrets: Sequence[Planted], recalled: Counter[str]) -> Iterator[str]:
    planted_of = Counter(one.family for one in secrets)
    short = [f"{family} {recalled[family]} of {number}" for family, number in planted_of.items()
             if recalled[family] < number]  # fmt: skip
    yield f"\nRecall by family: {', '.join(short) or 'all of them whole'} ({', '.join(planted_of)})."


def _eaten(sample: Path) -> Iterator[tuple[str, int, list[str], bool]]:
    """What was asked about, how many there were, which of them were redacted, and whether none may be."""
    with tempfile.TemporaryDirectory() as place:
        clone = Path(place) / "sample"
        subprocess.run(["git", "clone", "-q", "--mirror", str(sample.resolve()), str(clone)], check=True)
        commits = _git(clone, "log", "--all", "--format=%H").split()
        names = _git(clone, "ls-tree", "-r", "--name-only", "refs/heads/entire/checkpoints/v1").split()
        checkpoints = sorted({f"{a}{b}" for a, b, *_ in (name.split("/") for name in names if name.count("/") >= 2)})
        keep = frozenset({*commits, *checkpoints})
        yield _survive("commit ids", commits, keep, True)
        yield _survive("short commit ids", [one[:12] for one in commits], keep, True)
        yield _survive("checkpoint ids", checkpoints, keep, True)
        texts = [
            _git(clone, "show", f"refs/heads/entire/checkpoints/v1:{name}") for name in names if "metadata" in name
        ]
        yield _survive("UUIDs", sorted({one for text in texts for one in _UUID.findall(text)}), keep, True)
        lines = [line for text in _lock_files(clone) for line in text.splitlines() if line.strip()]
        yield _survive("lines of its lock files", lines, keep, False)
        yield _survive("lines of made lock files", list(_made_lock_lines()), keep, True)
        blobs = [base64.b64encode(_git(clone, "show", "-s", "--format=%B", one).encode()).decode() for one in commits]
        yield _survive("messages in base64", blobs, keep, False)


def _survive(what: str, found: Sequence[str], keep: frozenset[str], held: bool) -> tuple[str, int, list[str], bool]:
    redactor = Redactor(keep=keep)
    lost = [one for one in found if one not in redactor.redact(_IN_A_SENTENCE.format(one))]
    return what, len(found), lost, held


def _lock_files(clone: Path) -> Iterator[str]:
    for name in _git(clone, "ls-tree", "-r", "--name-only", "HEAD").splitlines():
        if Path(name).name in _LOCKS:
            yield _git(clone, "show", f"HEAD:{name}")


def _made_lock_lines() -> Iterator[str]:
    """What lock files of seven package managers say of a hundred packages: digests, which are no secrets."""
    for number in range(100):
        digest = hashlib.sha512(str(number).encode()).digest()
        b64, half = base64.b64encode(digest).decode(), base64.b64encode(digest[:32]).decode()
        yield f'      "integrity": "sha512-{b64}",'
        yield f"  integrity sha512-{b64}"
        yield f"    resolution: {{integrity: sha512-{b64}}}"
        yield f'checksum = "{digest[:32].hex()}"'
        yield f"example.com/module{number} v1.{number}.0 h1:{half}"
        yield f'    {{file = "package_{number}-1.0.tar.gz", hash = "sha256:{digest[:32].hex()}"}},'
        yield f'resolved "https://registry.example/package-{number}/-/package-{number}-1.0.tgz#{digest[:20].hex()}"'


def _git(where: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(where), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
