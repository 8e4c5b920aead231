"""Reading git objects through one persistent process.

`git cat-file --batch` answers in the order it is asked. `read` asks and waits; `ahead` keeps questions waiting so that
git unpacks the next object on its core while the caller works on this one.
"""

from __future__ import annotations

import fcntl
import io
import os
import queue
import re
import select
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from reflect.errors import RepositoryError

AHEAD_BYTES = 48 << 20
"""How much may be asked for, or read and not yet taken, besides the object that is being worked on."""

_AHEAD_QUESTIONS = 256  # 256 questions fit into the smallest pipe, so that asking never blocks
_PIPE = 1 << 20
_NO_OBJECT = "0" * 40
_QUESTION = re.compile(r"[0-9a-f]{40}(?:\^\{tree\}|:[\w./-]{1,80})?")


class ObjectReader:
    """Reads objects by id. An object that is not in this clone, or that is damaged, is None.

    Also understood: `<commit>^{tree}` and `<commit>:<path>` for a path the caller chose.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, silence_s: float) -> None:
        self._command = list(command)
        self._environment = dict(environment)
        self._silence_s = silence_s
        self._process: _Batch | None = None

    def read(self, name: str) -> bytes | None:
        return next(self.ahead([(name, 0)]))

    def read_all(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """The objects in the order of `names`, for small objects (trees, metadata)."""
        return self.ahead((name, 0) for name in names)

    def ahead(self, wanted: Iterable[tuple[str, int]]) -> Iterator[bytes | None]:
        """The objects in the order of `wanted`, pairs of a name and its size in bytes, read ahead up to a bound.

        One iteration at a time: finish or drop it before the next call.
        """
        names = iter(wanted)
        waiting: deque[tuple[str, int]] = deque()
        promised = 0
        batch = self._started()
        try:
            while True:
                while len(waiting) < _AHEAD_QUESTIONS and promised <= AHEAD_BYTES:
                    following = next(names, None)
                    if following is None:
                        break
                    waiting.append(following)
                    promised += following[1]
                    batch.ask(_checked(following[0]))
                if not waiting:
                    return
                answer = batch.answer()
                _, size = waiting.popleft()
                promised -= size
                if isinstance(answer, _Died):
                    batch = self._restarted([name for name, _ in waiting])
                    answer = None
                yield answer
        finally:
            if waiting:  # the caller stopped early: what git still prints belongs to no one
                self.close()

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _started(self) -> _Batch:
        if self._process is None:
            self._process = _Batch(self._command, self._environment, self._silence_s)
        return self._process

    def _restarted(self, unanswered: Sequence[str]) -> _Batch:
        """Git gives up at a damaged object; what was asked after it is asked again."""
        self.close()
        batch = self._started()
        batch.ask(_NO_OBJECT)
        if isinstance(batch.answer(), _Died):
            raise RepositoryError("`git cat-file --batch` ends as soon as it is started; nothing was changed.")
        for name in unanswered:
            batch.ask(name)
        return batch


class _Died:
    """Git ended before it had answered."""


class _Batch:
    """One process, and the thread that takes its answers off the pipe."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], silence_s: float) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            bufsize=0,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in = self._process.stdin
        self._raw = self._process.stdout
        _widen(self._raw.fileno())
        self._out = io.BufferedReader(PatientPipe(self._raw.fileno(), "git cat-file", silence_s), _PIPE)
        self._questions: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes | _Died | RepositoryError | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._take, name="git-objects", daemon=True)
        self._thread.start()

    def ask(self, name: str) -> None:
        with suppress(BrokenPipeError):  # it died at an earlier question; the answer says so
            self._in.write(f"{name}\n".encode())
        self._questions.put(True)

    def answer(self) -> bytes | _Died | None:
        answer = self._answers.get()
        if isinstance(answer, RepositoryError):
            raise answer
        return answer

    def close(self) -> None:
        self._process.kill()
        self._questions.put(False)
        self._thread.join()
        self._process.wait()
        self._in.close()
        self._out.close()
        self._raw.close()

    def _take(self) -> None:
        while self._questions.get():
            try:
                self._answers.put(self._one())
            except RepositoryError as error:
                self._answers.put(error)

    def _one(self) -> bytes | _Died | None:
        header = self._out.readline()
        if not header.endswith(b"\n"):
            return _Died()
        if header.endswith((b" missing\n", b" ambiguous\n")):
            return None
        size = int(header.rsplit(b" ", 1)[1])
        content = self._out.read(size)
        if len(content) < size or self._out.read(1) != b"\n":
            return _Died()
        return content


class PatientPipe(io.RawIOBase):
    """A pipe that gives up when nothing comes for too long."""

    def __init__(self, descriptor: int, speaker: str, silence_s: float) -> None:
        self._descriptor = descriptor
        self._speaker = speaker
        self._silence_s = silence_s
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        if not self._poll.poll(self._silence_s * 1000):
            raise RepositoryError(
                f"`{self._speaker}` said nothing for {self._silence_s:g} s and was given up; nothing was changed."
            )
        return os.readv(self._descriptor, [buffer])  # type: ignore[list-item]


def _widen(descriptor: int) -> None:
    """A pipe of 1 MiB instead of 64 KiB: fewer turns at the interpreter's lock per megabyte. Linux only."""
    widen = getattr(fcntl, "F_SETPIPE_SZ", None)
    if widen is None:
        return
    try:
        fcntl.fcntl(descriptor, widen, _PIPE)
    except OSError:
        return  # above this user's limit: the small pipe works too


def _checked(name: str) -> str:
    if not _QUESTION.fullmatch(name):
        raise RepositoryError(f"`{name[:80]}` is not the name of an object; nothing was read.")
    return name
