"""What a commit message says, taken apart: subject, body without trailers, checkpoints, reverts.

Squash merges put trailers of every original commit anywhere in the body, so the whole message is scanned and not only
its last block.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from reflect.model import CheckpointId, is_checkpoint_id

RUN_TRAILER = "Reflect-Run"
"""Carried by the commits this product makes."""

_TRAILER = re.compile(
    r"\s*(?:Entire-[A-Za-z-]+|Reflect-[A-Za-z-]+|Ephemeral-branch|Change-Id|git-svn-id|Cc|Made-with|Generated-by"
    r"|[A-Za-z]+(?:-[A-Za-z]+)*-(?:by|with)):\s.*",
    re.IGNORECASE,
)
_MACHINE_LINE = re.compile(
    r"\s*(?:https://claude\.ai/code/\S+|(?:\W\s*)?Generated with \[?(?:Claude Code|Codex|Cursor)\b.*"
    r"|\(cherry picked from commit [0-9a-f]{7,40}\)|-{3,}|_{3,}|\*{3,})\s*",
)
_CO_AUTHOR = re.compile(r"^[ \t]*Co-authored-by:[ \t]*([^<\n]*?)[ \t]*<([^<>\n]*)>", re.MULTILINE | re.IGNORECASE)
_CHECKPOINT = re.compile(r"^[ \t]*Entire-Checkpoint:[ \t]*(\S+)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_OWN_RUN = re.compile(rf"^{RUN_TRAILER}:[ \t]*\S", re.MULTILINE)

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What no text needs: control characters, and those that turn the reading direction so that a line shows as another."""
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+\S")
_STANDS_ALONE = re.compile(r"\s*(?:#{1,6}\s|>|\|)")
_FENCE = re.compile(r"\s*(?:```|~~~)")

_REVERTS = re.compile(r"\bThis reverts commits?\s+((?:[0-9a-f]{7,40}(?:\s*,\s*|\s+and\s+|\s+)?)+)")
_SHA = re.compile(r"[0-9a-f]{7,40}")
_REVERT_SUBJECT = re.compile(r'Revert\s+"(.+)"(?:\s+\(#\d+\))?|(?:revert|Revert)(?:\([^)]*\))?:\s+(.+)', re.DOTALL)
_PULL_REQUEST = re.compile(r"\s+\(#\d+\)$")


@dataclass(frozen=True, slots=True)
class Message:
    """A commit message. `reverted_shas` may be shortened; `reverted_subject` is the subject a revert names.

    `subject` and `body` have their wrapped lines joined; `subject_lines` and `body_lines` are those lines as written,
    without trailers.
    `co_authors` are name and address of everybody whom a `Co-authored-by` names.
    """

    subject: str
    body: str
    subject_lines: tuple[str, ...]
    body_lines: tuple[str, ...]
    checkpoints: tuple[CheckpointId, ...]
    reverted_shas: tuple[str, ...]
    reverted_subject: str
    made_by_reflect: bool
    is_squash: bool
    co_authors: tuple[tuple[str, str], ...] = ()

    @property
    def is_bundle(self) -> bool:
        """Whether a forge may have put the message together from the messages of several commits."""
        return self.is_squash or _PULL_REQUEST.search(self.subject) is not None

    def redacted(self, redact: Callable[[str], str]) -> tuple[str, str]:
        """Subject and body without secrets: looked for as the lines were written, and again as they read when joined.

        Where a name begins a line and its value ends it tells a secret from a word; that is gone once lines are joined.
        """
        subject = redact("\n".join(self.subject_lines))
        body = redact("\n".join(self.body_lines))
        return redact(" ".join(subject.split())), redact("\n".join(unwrap(body.split("\n"))))


def parse_message(raw: str) -> Message:
    """Take one commit message apart; never fails, whatever the bytes were."""
    text = _CONTROL.sub("", raw.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    subject_lines, rest = _split_subject(text)
    subject = " ".join(" ".join(subject_lines).split())
    body_lines = _without_trailers(rest)
    return Message(
        subject=subject,
        body="\n".join(unwrap(body_lines)),
        subject_lines=tuple(subject_lines),
        body_lines=tuple(body_lines),
        checkpoints=checkpoint_trailers(text),
        reverted_shas=_reverted_shas(text),
        reverted_subject=_reverted_subject(subject),
        made_by_reflect=_OWN_RUN.search(text.rsplit("\n\n", 1)[-1]) is not None,
        is_squash=sum(line.startswith("* ") for line in rest) > 1,
        co_authors=tuple(dict.fromkeys(_CO_AUTHOR.findall(text))),
    )


def checkpoint_trailers(message: str) -> tuple[CheckpointId, ...]:
    """Every valid `Entire-Checkpoint:` id of a message, once each, in order; shortened and misspelt ids are dropped."""
    found = (match.group(1) for match in _CHECKPOINT.finditer(message))
    return tuple(dict.fromkeys(CheckpointId(text) for text in found if is_checkpoint_id(text)))


def unwrap(lines: list[str]) -> list[str]:
    """Join the lines of each paragraph and list item; headings, quotes, tables and code keep theirs."""
    joined: list[str] = []
    in_fence = False
    open_line = False
    for line in lines:
        if _FENCE.match(line):
            in_fence = not in_fence
            joined.append(line.rstrip())
            open_line = False
        elif in_fence or not line.strip():
            if line.strip() or in_fence:
                joined.append(line.rstrip())
            open_line = False
        elif _STANDS_ALONE.match(line):
            joined.append(line.strip())
            open_line = False
        elif open_line and not _ITEM.match(line):
            joined[-1] = f"{joined[-1]} {line.strip()}"
        else:
            joined.append(line.rstrip() if _is_code(line) else line.strip())
            open_line = not _is_code(line)
    return joined


def same_subject(subject: str) -> str:
    """A subject as it is compared: without the pull request's number, white space folded."""
    return _PULL_REQUEST.sub("", " ".join(subject.split()))


def _split_subject(text: str) -> tuple[list[str], list[str]]:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not line.strip():
            return lines[:number], lines[number + 1 :]
        if number and _TRAILER.fullmatch(line):  # no blank line between subject and trailers
            return lines[:number], lines[number:]
    return lines, []


def _without_trailers(lines: list[str]) -> list[str]:
    kept: list[str] = []
    after_trailer = False
    for line in lines:
        if _TRAILER.fullmatch(line) or _MACHINE_LINE.fullmatch(line):
            after_trailer = True
        elif after_trailer and line[:1] in {" ", "\t"} and line.strip() and not _ITEM.match(line):
            continue  # a folded trailer goes on
        else:
            after_trailer = False
            kept.append(line)
    return kept


def _is_code(line: str) -> bool:
    return line.startswith(("    ", "\t")) and not _ITEM.match(line)


def _reverted_shas(text: str) -> tuple[str, ...]:
    folded = " ".join(text.split())
    found: list[str] = []
    for match in _REVERTS.finditer(folded):
        found += _SHA.findall(match.group(1))
    return tuple(dict.fromkeys(found))


def _reverted_subject(subject: str) -> str:
    match = _REVERT_SUBJECT.fullmatch(subject)
    if match is None:
        return ""
    return same_subject(match.group(1) or match.group(2))
