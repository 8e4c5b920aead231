"""Reading git objects through one persistent process.

`git cat-file --batch` answers in the order it is asked. `read` and `read_all` ask and wait. `ahead` asks for large
objects before they are needed and takes them off in a thread, so that git unpacks on its core while the caller works.

Git answers over a socket and not a pipe: there, one call waits for a whole object. Each call that comes back has to
wait for the interpreter's lock, and a pipe would need fifty of them for a megabyte.
"""

from __future__ import annotations

import io
import queue
import re
import socket
import struct
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice

from reflect.errors import RepositoryError

AHEAD_BYTES = 32 << 20
"""How much may be asked for, or read and not yet taken, besides the object that is being worked on."""

_AT_ONCE = 256  # questions: they fit into the smallest pipe, so that asking never blocks
_BUFFER = 1 << 20
_NO_OBJECT = "0" * 40
_QUESTION = re.compile(r"[0-9a-f]{40}(?:\^\{tree\}|:[\w./-]{1,80})?")


class ObjectReader:
    """Reads objects by id. An object that is not in this clone, or that is damaged, is None.

    Also understood: `<commit>^{tree}` and `<commit>:<path>` for a path the caller chose. One iteration at a time:
    finish or drop it before the next call.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, silence_s: float) -> None:
        self._command = list(command)
        self._environment = dict(environment)
        self._silence_s = silence_s
        self._batch: _Batch | None = None

    def read(self, name: str) -> bytes | None:
        return next(self.read_all([name]))

    def read_all(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """The objects in the order of `names`, for small ones (trees, metadata)."""
        asked = iter(names)
        while together := list(islice(asked, _AT_ONCE)):
            waiting = deque(together)
            batch = self._started()
            batch.ask(together)
            try:
                while waiting:
                    answer = batch.answer()
                    waiting.popleft()
                    if isinstance(answer, _Died):
                        batch = self._restarted(waiting)
                        answer = None
                    yield answer
            finally:
                if waiting:  # the caller stopped early: what git still says belongs to no one
                    self.close()

    def ahead(self, wanted: Iterable[tuple[str, int]]) -> Iterator[bytes | None]:
        """The blobs in the order of `wanted`, pairs of an id and its true size in bytes, read ahead up to a bound."""
        more = iter(wanted)
        waiting: deque[tuple[str, int]] = deque()
        promised = 0
        ahead = _Ahead(self._started())
        try:
            while True:
                if len(waiting) <= _AT_ONCE // 2 and promised <= AHEAD_BYTES // 2:  # many questions in one writing
                    asked = _some_of(more, _AT_ONCE - len(waiting), AHEAD_BYTES - promised)
                    promised += sum(size for _, size in asked)
                    ahead.ask(asked)
                    waiting += asked
                if not waiting:
                    return
                answer: bytes | _Died | None = ahead.answer()
                promised -= waiting.popleft()[1]
                if isinstance(answer, _Died):
                    ahead.abandon()
                    ahead = _Ahead(self._restarted(()))
                    ahead.ask(waiting)
                    answer = None
                yield answer
        finally:
            if waiting:
                ahead.abandon()
                self.close()
            else:
                ahead.finish()

    def close(self) -> None:
        if self._batch is not None:
            self._batch.close()
            self._batch = None

    def _started(self) -> _Batch:
        if self._batch is None:
            self._batch = _Batch(self._command, self._environment, self._silence_s)
        return self._batch

    def _restarted(self, unanswered: Iterable[str]) -> _Batch:
        """Git gives up at a damaged object; what was asked after it is asked again."""
        self.close()
        batch = self._started()
        batch.ask([_NO_OBJECT])
        if isinstance(batch.answer(), _Died):
            raise RepositoryError("`git cat-file --batch` ends as soon as it is started; nothing was changed.")
        batch.ask(unanswered)
        return batch


class _Died:
    """Git ended, or said something else than was asked for."""


class _Batch:
    """One process."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], silence_s: float) -> None:
        self._silence_s = silence_s
        self._socket, theirs = socket.socketpair()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        whole, part = divmod(silence_s, 1)
        patience = struct.pack("@ll", int(whole), int(part * 1_000_000))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                env=dict(environment),
                bufsize=0,
            )
        self._said = b""

    def ask(self, names: Iterable[str]) -> None:
        asked = "".join(f"{_checked(name)}\n" for name in names).encode()
        if asked:
            assert self._process.stdin is not None
            with suppress(BrokenPipeError):  # it died at an earlier question; the answer says so
                self._process.stdin.write(asked)

    def answer(self) -> bytes | _Died | None:
        """The next answer, whatever its size."""
        while (end := self._said.find(b"\n")) < 0:
            if not (more := self._receive(1 << 16, 0)):
                return _Died()
            self._said += more
        header, rest = self._said[:end], self._said[end + 1 :]
        if header.endswith((b" missing", b" ambiguous")):
            self._said = rest
            return None
        size = int(header.rsplit(b" ", 1)[1])
        rest += self.exactly(size + 1 - len(rest))
        self._said = rest[size + 1 :]
        return rest[:size] if rest[size : size + 1] == b"\n" else _Died()

    def blob(self, oid: str, size: int) -> bytes | _Died:
        """The next answer where it is the blob `oid` of `size` bytes, which the caller knows to exist.

        One call fills header, content and end, and the content is handed on without a copy: `BytesIO` gives away the
        very bytes that it was filled through.
        """
        expected = f"{oid} blob {size}\n".encode()
        header, content, end = bytearray(len(expected)), io.BytesIO(), bytearray(1)
        if size:
            content.seek(size - 1)
            content.write(b"\0")
        with content.getbuffer() as space:
            parts: list[bytearray | memoryview] = [header, space, end]
            missing = len(expected) + size + 1 - self._receive_into(parts)
            whole = missing == 0 or self._receive_rest(parts, missing)
        return content.getvalue() if whole and header == expected and end == b"\n" else _Died()

    def exactly(self, size: int) -> bytes:
        """As many bytes, fewer where git ends before."""
        said = self._receive(size, socket.MSG_WAITALL) if size > 0 else b""
        while 0 < len(said) < size and (more := self._receive(size - len(said), socket.MSG_WAITALL)):
            said += more
        return said

    def stop(self) -> None:
        """End the process, so that whoever waits for it goes on."""
        self._process.kill()

    def close(self) -> None:
        self.stop()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._socket.close()

    def _receive(self, size: int, flags: int) -> bytes:
        with self._patience():
            return self._socket.recv(size, flags)

    def _receive_into(self, parts: list[bytearray | memoryview]) -> int:
        with self._patience():
            return self._socket.recvmsg_into(parts, 0, socket.MSG_WAITALL)[0]

    def _receive_rest(self, parts: list[bytearray | memoryview], missing: int) -> bool:
        """Fill the end of `parts` after a call that came back early; whether git had as much to say."""
        rest = self.exactly(missing)
        if len(rest) < missing:
            return False
        at = missing
        for part in reversed(parts):
            filled = min(at, len(part))
            part[len(part) - filled :] = rest[at - filled : at]
            at -= filled
        return True

    @contextmanager
    def _patience(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError as error:
            raise RepositoryError(
                f"`git cat-file --batch` said nothing for {self._silence_s:g} s and was given up; nothing was changed."
            ) from error


class _Ahead:
    """Takes blobs off a process in a thread, in the order they were asked for."""

    def __init__(self, batch: _Batch) -> None:
        self._batch = batch
        self._asked: queue.SimpleQueue[tuple[str, int] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes | _Died | BaseException] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._take, name="git-objects", daemon=True)
        self._thread.start()

    def ask(self, wanted: Iterable[tuple[str, int]]) -> None:
        wanted = list(wanted)
        self._batch.ask(oid for oid, _ in wanted)
        for pair in wanted:
            self._asked.put(pair)

    def answer(self) -> bytes | _Died:
        answer = self._answers.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def finish(self) -> None:
        """Everything asked for has been taken: the process serves the next question."""
        self._asked.put(None)
        self._thread.join()

    def abandon(self) -> None:
        """End the process, because what it still says belongs to no one."""
        self._batch.stop()
        self.finish()

    def _take(self) -> None:
        while (pair := self._asked.get()) is not None:
            try:
                self._answers.put(self._batch.blob(*pair))
            except BaseException as error:  # handed to the caller, who would wait for ever for a thread that is gone
                self._answers.put(error)


def _some_of(more: Iterator[tuple[str, int]], count: int, size: int) -> list[tuple[str, int]]:
    """The next pairs, at most `count` and, but for the last, at most `size` bytes together."""
    taken: list[tuple[str, int]] = []
    while len(taken) < count and size >= 0 and (following := next(more, None)) is not None:
        taken.append(following)
        size -= following[1]
    return taken


def _checked(name: str) -> str:
    if not _QUESTION.fullmatch(name):
        raise RepositoryError(f"`{name[:80]}` is not the name of an object; nothing was read.")
    return name
