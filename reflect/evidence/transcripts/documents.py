"""The walk through transcripts that are JSON documents with `messages`, or several where Entire cut a large one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson

from reflect.evidence.transcripts.content import text_of
from reflect.evidence.transcripts.recording import Recorder, key_of, key_of_line

Document = dict[str, Any]


class Place:
    """Where a message stands: its position over all documents, and the session that its document names."""

    def __init__(self, position: int, session: str) -> None:
        self.position = position
        self._session = session

    def key(self, agent: str, message: Document, kind: object, identity: object) -> bytes:
        """The key of a turn of `message`: of its id, and where it has none of what it says and where."""
        if known := text_of(identity):
            return key_of(agent, text_of(kind), known)
        return key_of_line(orjson.dumps(message), self._session, str(self.position))


def messages_of(
    documents: Sequence[Document | None], record: Recorder, opened: Callable[[Document], tuple[object, object]]
) -> Iterator[tuple[Document, Place]]:
    """Every message of `documents` that is an object; what could not be read (None) is told to `record`.

    `opened` tells the directory and the session that a document names. One that names no session goes on with the
    one before it.
    """
    position, session = 0, ""
    for number, document in enumerate(documents):
        if document is None:
            record.lost_line(position)
            record.notes["chunks that could not be read"] += 1
            if number == 0:
                record.beginning_is_missing()
            continue
        directory, named = opened(document)
        session = text_of(named) or session
        record.enter(directory, session)
        for message in document["messages"]:
            if isinstance(message, dict):
                yield message, Place(position, session)
            position += 1
