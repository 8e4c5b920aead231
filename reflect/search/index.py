"""The index of one work tree: what is indexed, for whom it is left out, and the words. SQLite's FTS5, one file.

A refresh is one transaction, so a killed one leaves the index as it was. A file that is damaged or of another version
is thrown away: everything in it can be made again from the repository.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections import namedtuple
from contextlib import closing, contextmanager

from reflect.search.answer import GIT, ORGANISATION_WIKI, OWN_WIKI, PAGE, Excluded, Hit
from reflect.search.snippet import snippet
from reflect.search.words import expression, names, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, NamedTuple

    class Row(NamedTuple):
        """A page as it is indexed; `keys` are those of a `Candidate`."""

        project: str
        title: str
        text: str
        keys: dict[str, Any]

else:
    Row = namedtuple("Row", "project title text keys")

VERSION = 5
"""Rises whenever the same repository would be indexed otherwise."""

BUSY_S = 30.0
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (place TEXT, path TEXT, size INTEGER, mtime INTEGER, ctime INTEGER, PRIMARY KEY (place, path))
    WITHOUT ROWID;
CREATE TABLE evidence (id TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE turns (key BLOB PRIMARY KEY, evidence TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, place TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, path TEXT, name TEXT NOT NULL,
    project TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, candidate TEXT NOT NULL, UNIQUE (place, key)
);
CREATE INDEX documents_by_kind ON documents (kind);
CREATE TABLE exclusions (asking TEXT, document INTEGER, reason TEXT NOT NULL, PRIMARY KEY (asking, document))
    WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    title, path, names, body, tokenize = "porter unicode61 remove_diacritics 0 categories 'L* N* M* P* S* Co'"
);
"""
_ALLOWED = "documents.id NOT IN (SELECT document FROM exclusions WHERE asking = :asking)"
_SEARCH = """
SELECT documents.kind, documents.path, documents.name, documents.project, documents.title, found.score, documents.text
FROM (
    SELECT rowid AS document, bm25(words, 4.0, 1.5, 1.0, 1.0) AS score FROM words
    WHERE words MATCH :match
        AND rowid NOT IN (SELECT document FROM exclusions WHERE asking = :asking)
        AND (:kind IS NULL OR rowid IN (SELECT id FROM documents WHERE kind = :kind))
    ORDER BY score, rowid LIMIT :limit
) AS found
JOIN documents ON documents.id = found.document
ORDER BY found.score, documents.kind, documents.name
"""
_EXCLUDED = """
SELECT documents.kind, documents.path, documents.name, exclusions.reason
FROM words JOIN documents ON documents.id = words.rowid
JOIN exclusions ON exclusions.document = documents.id AND exclusions.asking = :asking
WHERE words MATCH :match AND (:kind IS NULL OR documents.kind = :kind)
ORDER BY bm25(words, 4.0, 1.5, 1.0, 1.0), documents.name LIMIT :limit
"""


class Index:
    """An open index. `asking` is always the id of the project that asks: there is no search without one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    @classmethod
    def existing(cls, file: Path) -> Index | None:
        """The index in `file`; None where there is none of this version that can be read."""
        if not file.is_file():
            return None
        try:
            index = cls(_connected(file))
            if index.meta("version") == str(VERSION):
                return index
            index.close()
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise  # somebody works on it: it is not damaged
            return None
        return None

    @classmethod
    def made(cls, file: Path) -> Index:
        """The index in `file`, made anew where there is none that can be used."""
        if (index := cls.existing(file)) is not None:
            return index
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _one_at_a_time(file.with_name("lock")):
            return cls.existing(file) or cls._new(file)

    @classmethod
    def _new(cls, file: Path) -> Index:
        for old in (file, *(file.with_name(file.name + end) for end in ("-journal", "-wal", "-shm"))):
            old.unlink(missing_ok=True)
        file.touch(mode=0o600)
        db = _connected(file)
        db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} INSERT INTO meta VALUES ('version', '{VERSION}'); COMMIT;")
        return cls(db)

    @classmethod
    def in_memory(cls) -> Index:
        """An empty index that nothing keeps."""
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.executescript(_SCHEMA)
        return cls(db)

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """One transaction for the length of a `with` block: everything in it stands afterwards, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.rollback()
            raise
        self._db.commit()

    def search(self, terms: Sequence[Sequence[str]], asking: str, *, wiki_only: bool, limit: int) -> tuple[Hit, ...]:
        """The best rows that `asking` may see, best first. What it may not see is no candidate and takes no place."""
        if not terms:
            return ()
        found = self._db.execute(_SEARCH, self._asked(terms, asking, wiki_only, limit))
        return tuple(
            Hit(kind, path, name, project, title, round(-score, 4), snippet(text, terms))
            for kind, path, name, project, title, score, text in found
        )

    def excluded(
        self, terms: Sequence[Sequence[str]], asking: str, *, wiki_only: bool, limit: int
    ) -> tuple[Excluded, ...]:
        """The rows that match and that `asking` may not see, with the reason. No word of them is given."""
        if not terms:
            return ()
        return tuple(map(Excluded._make, self._db.execute(_EXCLUDED, self._asked(terms, asking, wiki_only, limit))))

    def _asked(self, terms: Sequence[Sequence[str]], asking: str, wiki_only: bool, limit: int) -> dict[str, Any]:
        kind = PAGE if wiki_only else None
        return {"match": expression(terms), "asking": asking, "kind": kind, "limit": limit}

    def meta(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def put(
        self,
        place: str,
        key: str,
        *,
        kind: str,
        path: str | None,
        name: str,
        project: str,
        title: str,
        text: str,
        candidate: Mapping[str, Any],
    ) -> None:
        """Index one document in place of what stood under its key."""
        self.drop(place, key)
        row = (place, key, kind, path, name, project, title, text, json.dumps(candidate, sort_keys=True))
        columns = "place, key, kind, path, name, project, title, text, candidate"
        done = self._db.execute(f"INSERT INTO documents ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        where = path or name
        said = (" ".join(words(title)), " ".join(words(where)), " ".join(names(f"{where} {title} {text}")))
        self._db.execute(
            "INSERT INTO words (rowid, title, path, names, body) VALUES (?, ?, ?, ?, ?)",
            (done.lastrowid, *said, " ".join(words(text))),
        )

    def drop(self, place: str, key: str) -> None:
        row = self._db.execute("SELECT id FROM documents WHERE place = ? AND key = ?", (place, key)).fetchone()
        if row is None:
            return
        for statement in (
            "DELETE FROM words WHERE rowid = ?",
            "DELETE FROM exclusions WHERE document = ?",
            "DELETE FROM documents WHERE id = ?",
        ):
            self._db.execute(statement, row)

    def clear(self) -> None:
        """Forget everything that was indexed: the rules by which it was read have changed."""
        for table in ("words", "documents", "exclusions", "files", "evidence", "turns"):
            self._db.execute(f"DELETE FROM {table}")

    def candidates(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Every row's number and the keys by which it is decided who may see it."""
        with closing(self._db.execute("SELECT id, candidate FROM documents ORDER BY id")) as rows:
            for number, written in rows.fetchall():
                yield number, _keys(written)

    def rows(self) -> list[dict[str, Any]]:
        """Every row as `put` takes it, by number."""
        names_of = ("place", "key", "kind", "path", "name", "project", "title", "text")
        found = self._db.execute(f"SELECT {', '.join(names_of)}, candidate FROM documents ORDER BY id")
        return [
            {**dict(zip(names_of, row, strict=False)), "candidate": json.loads(row[len(names_of)])} for row in found
        ]

    def keyless(self, place: str) -> set[str]:
        """The pages that say nothing of their scope: whose they are depends on which of their sources exist."""
        sql = "SELECT key FROM documents WHERE place = ? AND json_extract(candidate, '$.keyless')"
        return {row[0] for row in self._db.execute(sql, (place,))}

    def exclude(self, asking: str, reasons: Mapping[int, str]) -> None:
        """Say anew what `asking` may not see, and why."""
        self._db.execute("DELETE FROM exclusions WHERE asking = ?", (asking,))
        rows = [(asking, number, reason) for number, reason in sorted(reasons.items())]
        self._db.executemany("INSERT INTO exclusions VALUES (?, ?, ?)", rows)

    def files(self, place: str) -> dict[str, tuple[int, int, int]]:
        rows = self._db.execute("SELECT path, size, mtime, ctime FROM files WHERE place = ?", (place,))
        return {path: (size, mtime, ctime) for path, size, mtime, ctime in rows}

    def set_file(self, place: str, path: str, size: int, mtime: int, ctime: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", (place, path, size, mtime, ctime))

    def drop_file(self, place: str, path: str) -> None:
        self._db.execute("DELETE FROM files WHERE place = ? AND path = ?", (place, path))
        self.drop(place, path)

    def evidence(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT id, content FROM evidence"))

    def set_evidence(self, contents: Mapping[str, str]) -> None:
        self._db.executemany("INSERT OR REPLACE INTO evidence VALUES (?, ?)", sorted(contents.items()))

    def drop_evidence(self, identity: str) -> None:
        self._db.execute("DELETE FROM evidence WHERE id = ?", (identity,))
        self._db.execute("DELETE FROM turns WHERE evidence = ?", (identity,))
        self.drop(GIT, identity)

    def turn_keys(self) -> frozenset[bytes]:
        return frozenset(row[0] for row in self._db.execute("SELECT key FROM turns"))

    def set_turns(self, identity: str, keys: Sequence[bytes]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO turns VALUES (?, ?)", [(key, identity) for key in keys])

    def pages(self, place: str, asking: str) -> list[tuple[str, str, str]]:
        """Path, title and text of each page of `place` that `asking` may see, by path."""
        asked = {"asking": asking, "place": place, "kind": PAGE}
        where = f"place = :place AND kind = :kind AND {_ALLOWED}"
        sql = f"SELECT path, title, text FROM documents WHERE {where} ORDER BY path"
        return [(path, title, text) for path, title, text in self._db.execute(sql, asked)]

    def allowed(self, kind: str, asking: str) -> dict[tuple[str, str], tuple[str, dict[str, Any]]]:
        """Title and keys of every row of `kind` that `asking` may see, by place and key."""
        sql = f"SELECT place, key, title, candidate FROM documents WHERE kind = :kind AND {_ALLOWED}"
        rows = self._db.execute(sql, {"asking": asking, "kind": kind})
        return {(place, key): (title, _keys(keys)) for place, key, title, keys in rows}

    def said_in(self, evidence: str, asking: str) -> str:
        """The words of a session or of a commit; empty where there are none that `asking` may see."""
        sql = f"SELECT text FROM documents WHERE place = :place AND key = :key AND {_ALLOWED}"
        row = self._db.execute(sql, {"asking": asking, "place": GIT, "key": evidence}).fetchone()
        return "" if row is None else str(row[0])

    def withheld(self, kind: str, asking: str) -> dict[tuple[str, str], str]:
        """Why `asking` may not see each of the other rows of `kind`, by place and key."""
        sql = "SELECT place, key, reason FROM documents JOIN exclusions ON document = id AND asking = ? WHERE kind = ?"
        return {(place, key): reason for place, key, reason in self._db.execute(sql, (asking, kind))}

    def titles(self, place: str, asking: str) -> list[tuple[str, str]]:
        """Path and title of each page of `place` that `asking` may see, by path."""
        sql = f"SELECT path, title FROM documents WHERE place = :place AND kind = :kind AND {_ALLOWED} ORDER BY path"
        return self._db.execute(sql, {"asking": asking, "place": place, "kind": PAGE}).fetchall()

    def page(self, place: str, path: str, asking: str) -> Row | None:
        """The page at `path` of `place`; None where there is none that `asking` may see."""
        where = f"place = :place AND key = :path AND kind = :kind AND {_ALLOWED}"
        sql = f"SELECT project, title, text, candidate FROM documents WHERE {where}"
        row = self._db.execute(sql, {"asking": asking, "place": place, "path": path, "kind": PAGE}).fetchone()
        return None if row is None else Row(row[0], row[1], row[2], _keys(row[3]))

    def standing(self, hit: Hit) -> list[dict[str, Any]]:
        """The keys by which it is decided who may see it, of each row that `hit` may be."""
        sql = "SELECT candidate FROM documents WHERE place IN (?, ?, ?) AND key = ? AND project = ?"
        places = (OWN_WIKI, ORGANISATION_WIKI, GIT)
        return [_keys(row[0]) for row in self._db.execute(sql, (*places, hit.id, hit.project))]

    def hit(self, place: str, path: str, asking: str, terms: Sequence[Sequence[str]]) -> Hit | None:
        """The page at `path` of `place` as a hit without a score, where `asking` may see it."""
        where = f"kind = :kind AND place = :place AND path = :path AND {_ALLOWED}"
        sql = f"SELECT name, project, title, text FROM documents WHERE {where}"
        row = self._db.execute(sql, {"asking": asking, "place": place, "path": path, "kind": PAGE}).fetchone()
        if row is None:
            return None
        name, project, title, text = row
        return Hit(PAGE, path, name, project, title, 0.0, snippet(text, terms))

    def counts(self) -> dict[str, int]:
        return dict(self._db.execute("SELECT kind, count(*) FROM documents GROUP BY kind ORDER BY kind"))


def _keys(written: str) -> dict[str, Any]:
    """The keys that decide who may see a row, as they were kept beside it."""
    keys: dict[str, Any] = json.loads(written)
    keys.pop("keyless", None)
    return keys


@contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    """Two that find no index must not both make one: the second would throw away the first's."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _connected(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=BUSY_S, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection
