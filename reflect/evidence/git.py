"""The only place that runs git.

A repository is data. Two kinds of call keep it so:

- in the repository (`run`): refs, branches, what the work tree needs. Its configuration is read, so everything that a
  configuration can make git execute is switched off.
- in a clean room (`store`, `stream`, `objects`): an empty git directory of our own whose object store is the
  repository's. No line of the repository's configuration, attributes, grafts or replacements is read there, and an
  object that a partial clone left out is missing instead of fetched, with any version of git.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reflect.deadline import time_left
from reflect.errors import ConfigurationError, RepositoryError
from reflect.evidence.objects import ObjectReader

SECONDS = 120.0
"""How long one call may take; for calls that stream, how long git may stay silent."""

NETWORK_SECONDS = 900.0
"""How long a clone or a fetch may take: the first one of a large repository brings all of it."""

_READ = 1 << 16
_SHA = re.compile(r"[0-9a-f]{40}")

_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.quotePath=false",
    "credential.helper=",
    "protocol.ext.allow=never",
    "log.showSignature=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    # Git refuses repositories of other users because their configuration could execute something. Nothing it can name
    # is executed here, and a container that mounts a clone must not need a setting for it.
    "safe.directory=*",
)

_WITHOUT_DRIVERS = frozenset({"diff", "log", "show"})
"""Commands that would run the external diff and textconv commands a configuration names."""


_RUN_FILTERS = frozenset(
    [
        *(
            "add",
            "am",
            "apply",
            "cherry-pick",
            "checkout",
            "checkout-index",
            "commit",
            "diff",
            "diff-files",
            "diff-index",
        ),
        *(
            "hash-object",
            "merge",
            "rebase",
            "reset",
            "restore",
            "stash",
            "status",
            "switch",
            "update-index",
            "worktree",
        ),
    ]
)
"""Commands that would run the clean and smudge filters a configuration names, on files of the work tree."""


@dataclass(frozen=True, slots=True)
class DefaultBranch:
    """The branch whose history is evidence: its name, the commits it points to here and on its remote, and how it was
    found, in words. `name` is None where HEAD is detached and nothing else names a branch; `tips` is empty before the
    first commit; `ref` is the full name of the ref that leads (the remote's where there is one)."""

    name: str | None
    tips: tuple[str, ...]
    how: str
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """A ref, the object it names, and the ref it stands for where it is symbolic."""

    name: str
    oid: str
    target: str = ""


class Git:
    """One repository. Paths are absolute and resolved: the same repository reached by a symbolic link is the same.

    `root` is the top of the work tree, or the git directory of a bare repository. `git_dir` is a linked worktree's own
    directory, `common_dir` the one all its worktrees share.
    """

    def __init__(self, root: Path, git_dir: Path, common_dir: Path, *, is_bare: bool = False) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.is_bare = is_bare
        self._room: Path | None = None

    @classmethod
    def open(cls, path: Path) -> Git:
        """The repository around `path`: any folder of a work tree or worktree, or a bare repository.

        Raises RepositoryError where there is none, where its work tree lies elsewhere than its configuration says, and
        where it names objects by SHA-256.
        """
        if not path.is_dir():
            raise RepositoryError(f"{path} is not a folder, so there is no repository to read; nothing was changed.")
        start = path.resolve()
        answers = _asked_where(start)
        git_dir, common_dir = Path(answers[0]).resolve(), Path(answers[1]).resolve()
        if answers[4] != "sha1":
            raise RepositoryError(f"{start} names its objects by {answers[4]}; only SHA-1 repositories can be read.")
        if answers[3] == "true":
            root = (start / answers[5]).resolve()
            _check_work_tree(root, git_dir)
            return cls(root, git_dir, common_dir)
        if answers[2] == "true":
            return cls(git_dir, git_dir, common_dir, is_bare=True)
        if not start.is_relative_to(git_dir) or common_dir.name != ".git":
            raise RepositoryError(
                f"{git_dir} says that its work tree lies elsewhere, and {start} does not belong to it; nothing was "
                "read; check `core.worktree`."
            )
        return cls(common_dir.parent, git_dir, common_dir)

    def run(
        self,
        *arguments: str,
        input: bytes | None = None,
        timeout_s: float = SECONDS,
        environment: Mapping[str, str] | None = None,
    ) -> bytes:
        """What `git <arguments>` prints, run at `root`. RepositoryError with git's own words where it fails.

        No transport is allowed. `environment` adds variables (an author, an index file).
        """
        command = _command(self.root, self._without_filters(arguments)) + _without_drivers(arguments)
        extra = {**_NO_NETWORK, **(environment or {})}
        return _finished(command, where=self.root, input=input, timeout_s=timeout_s, extra=extra)

    def network(self, *arguments: str, address: str, timeout_s: float = NETWORK_SECONDS) -> bytes:
        """What `git <arguments>` prints when it talks to the remote at `address`.

        Credentials come from the person's own git configuration (helpers, ssh), or from REFLECT_GIT_TOKEN, which only
        an https host, or http on this machine, that is `address`'s own is told; they are in no argument. No hook runs
        and no program is a remote. RepositoryError, without what could be a secret, where it fails.
        """
        command = _command(self.root, base=[one for one in _SETTINGS if one != "credential.helper="])
        try:
            return _finished(
                [*command, *arguments], where=self.root, timeout_s=timeout_s, extra=_network_environment(address)
            )
        except RepositoryError as error:
            raise RepositoryError(without_credentials(str(error))) from None

    def lines(self, *arguments: str, input: bytes | None = None) -> list[str]:
        """The lines that `git <arguments>` prints; bytes that are not UTF-8 come back as surrogate escapes."""
        text = self.run(*arguments, input=input).decode("utf-8", "surrogateescape")
        return text.split("\n")[:-1] if text.endswith("\n") else [line for line in text.split("\n") if line]

    def refs(self, *patterns: str) -> tuple[Ref, ...]:
        """Every ref below `patterns` (all where none is given), sorted by name, in one call."""
        shown = self.lines("for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)", *patterns)
        return tuple(Ref(*line.split("\0")) for line in shown)

    def head(self) -> Ref:
        """HEAD: `target` is the branch it names, empty where detached; `oid` is empty before the first commit."""
        target = self._quiet("symbolic-ref", "-q", "HEAD")
        return Ref("HEAD", self._quiet("rev-parse", "-q", "--verify", "HEAD^{commit}"), target)

    def default_branch(self, configured: str | None, refs: Sequence[Ref] | None = None) -> DefaultBranch:
        """The default branch: `origin/HEAD`, then the configured one, then the branch HEAD names. Never a guess.

        `refs` are the repository's branches where the caller has listed them. Raises ConfigurationError where the
        configured branch does not exist in a repository that has branches.
        """
        if refs is None:
            refs = self.refs("refs/heads", "refs/remotes")
        by_name = {ref.name: ref for ref in refs}
        remote = _remote_head(by_name)
        if remote is not None:
            name = remote.target.split("/", 3)[3]
            how = remote.name.removeprefix("refs/remotes/")
            return DefaultBranch(name, _tips(name, by_name, remote.target), how, remote.target)
        if configured:
            tips = _tips(configured, by_name)
            if not tips and any(ref.name.startswith("refs/heads/") for ref in refs):
                raise ConfigurationError(
                    f"`default_branch: {configured}` in .reflect/config.yaml names no branch of {self.root}; nothing "
                    "was read; correct or remove the setting."
                )
            return DefaultBranch(configured, tips, "config.yaml", _leading(configured, by_name))
        return self._branch_of_head(by_name)

    def is_shallow(self) -> bool:
        """Whether history was cut when this clone was made."""
        return (self.common_dir / "shallow").exists()

    def store(
        self, *arguments: str, input: bytes | None = None, timeout_s: float = SECONDS, where: str | None = None
    ) -> bytes:
        """What a command that needs only objects prints (`rev-list`, `cat-file`, `log` of given commits)."""
        command, extra = self._in_clean_room(arguments)
        return _finished(command, where=where or self.root, input=input, timeout_s=timeout_s, extra=extra)

    def stream(self, *arguments: str, input: bytes = b"") -> Iterator[bytes]:
        """As `store`, in pieces while git works. RepositoryError at the end where git failed."""
        command, extra = self._in_clean_room(arguments)
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said:
            asked.write(input)
            asked.seek(0)
            with subprocess.Popen(
                command, stdin=asked, stdout=subprocess.PIPE, stderr=said, env=_environment(extra)
            ) as process:
                assert process.stdout is not None
                pipe = process.stdout.fileno()
                try:
                    while piece := self._piece(pipe, command):
                        yield piece
                    code = process.wait(SECONDS)
                finally:
                    process.kill()
            if code:
                said.seek(0)
                raise RepositoryError(_failure(command, self.root, said.read()))

    @contextmanager
    def objects(self) -> Iterator[ObjectReader]:
        """A reader over one persistent `git cat-file --batch`."""
        command, extra = self._in_clean_room(("cat-file", "--batch"))
        reader = ObjectReader(command, _environment(extra), silence_s=time_left(SECONDS))
        try:
            yield reader
        finally:
            reader.close()

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        """The size in bytes of each object that exists here, in one call and without reading them."""
        if not oids:
            return {}
        asked = "".join(f"{_checked(oid)}\n" for oid in oids).encode()
        shown = self.store("cat-file", "--batch-check=%(objectname) %(objectsize)", input=asked)
        found = (line.split(" ") for line in shown.decode().split("\n") if line)
        return {oid: int(size) for oid, size in found if size != "missing"}

    def _without_filters(self, arguments: Sequence[str]) -> list[str]:
        """Settings that switch off the content filters the repository's configuration names."""
        if arguments[:1] and arguments[0] not in _RUN_FILTERS:
            return []
        named = self._quiet(
            "config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$"
        )
        off = {"required": "false"}
        return [f"{key}={off.get(key.rsplit('.', 1)[1], '')}" for key in dict.fromkeys(named.split("\0")) if key]

    def _branch_of_head(self, by_name: Mapping[str, Ref]) -> DefaultBranch:
        head = self.head()
        if head.target.startswith("refs/heads/"):
            name = head.target.removeprefix("refs/heads/")
            how = "the branch HEAD names (no origin/HEAD, no default_branch in config.yaml)"
            return DefaultBranch(name, _tips(name, by_name), how, _leading(name, by_name))
        tips = (head.oid,) if head.oid else ()
        return DefaultBranch(None, tips, "HEAD, which is detached (no origin/HEAD, no default_branch in config.yaml)")

    def _piece(self, pipe: int, command: Sequence[str]) -> bytes:
        ready, _, _ = select.select([pipe], [], [], time_left(SECONDS))
        if not ready:
            raise RepositoryError(
                f"`{_shown(command)}` said nothing for {SECONDS:g} s in {self.root} and was given up."
            )
        return os.read(pipe, _READ)

    def _quiet(self, *arguments: str) -> str:
        command = _command(self.root) + list(arguments)
        done = subprocess.run(command, capture_output=True, env=_environment(_NO_NETWORK), timeout=SECONDS, check=False)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def _in_clean_room(self, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        if self._room is None:
            self._room = _clean_room(self.common_dir)
            weakref.finalize(self, shutil.rmtree, self._room, ignore_errors=True)
        extra = {
            **_NO_NETWORK,
            "GIT_DIR": str(self._room),
            "GIT_OBJECT_DIRECTORY": str(self.common_dir / "objects"),
        }
        return _command(self._room) + _without_drivers(arguments), extra


_NO_NETWORK = {"GIT_ALLOW_PROTOCOL": "none"}


_TOKEN = "REFLECT_GIT_TOKEN"
_HELPER = f'!f() {{ test "$1" = get && echo username=x-access-token && echo "password=${_TOKEN}"; }}; f'


def _network_environment(address: str) -> dict[str, str]:
    """The environment of a call that may use the network; the token stays a variable that a helper reads."""
    user = {name: os.environ[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_SSH_COMMAND") if name in os.environ}
    extra = {"GIT_CONFIG_GLOBAL": str(Path.home() / ".gitconfig"), "GIT_SSH_COMMAND": "ssh -o BatchMode=yes", **user}
    extra["GIT_ALLOW_PROTOCOL"] = "file:git:http:https:ssh"
    extra["GIT_PROXY_COMMAND"] = ""  # a repository's `core.gitProxy` names a program
    parts = urlsplit(address) if "://" in address else None
    if parts is None or not os.environ.get(_TOKEN):
        return extra
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")):
        return extra
    place = f"{parts.scheme}://{parts.netloc.rsplit('@', 1)[-1]}"
    # The person's own helpers are left out: git tells every helper to keep what worked, and one may write it to a file.
    return extra | {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "credential.helper",
        "GIT_CONFIG_VALUE_0": "",
        "GIT_CONFIG_KEY_1": f"credential.{place}.helper",
        "GIT_CONFIG_VALUE_1": _HELPER,
    }


_CREDENTIALS = re.compile(
    r"(?<=:/)/?[^/\s]*@"  # who asks, before a host; also in an address that was taken for a path
    r"|(?<![^\s'\"])[^/\s@'\"]+:(?!/)[^\s@]+@"
    r"|(?<=[?&])[^\s'\"#]+=[^\s'\"#]*"
    r"|(?i:(?<=authorization:)[^\n]+)"
)


def without_credentials(text: str) -> str:
    """`text` without the user part and the query of addresses, header values that authorise, and the token."""
    token = os.environ.get(_TOKEN)
    return _CREDENTIALS.sub(_marked, text.replace(token, "***") if token else text)


def _marked(found: re.Match[str]) -> str:
    return "/" if found[0].startswith("/") else "" if found[0].endswith("@") else "***"


def _command(where: Path, settings: Sequence[str] = (), base: Sequence[str] = _SETTINGS) -> list[str]:
    command = ["git", "--no-pager", "-C", str(where)]
    for setting in (*base, *settings):
        command += ["-c", setting]
    return command


def _without_drivers(arguments: Sequence[str]) -> list[str]:
    if arguments and arguments[0] in _WITHOUT_DRIVERS:
        return [arguments[0], "--no-ext-diff", "--no-textconv", *arguments[1:]]
    return list(arguments)


def _environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment without anything that would point git elsewhere (a hook sets GIT_DIR)."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        **(extra or {}),
    }


def _finished(
    command: list[str],
    *,
    where: Path | str,
    input: bytes | None = None,
    timeout_s: float = SECONDS,
    extra: Mapping[str, str] | None = None,
) -> bytes:
    timeout_s = time_left(timeout_s)
    try:
        done = _communicated(command, b"" if input is None else input, timeout_s, _environment(extra))
    except subprocess.TimeoutExpired as error:
        raise RepositoryError(
            f"`{_shown(command)}` took longer than {timeout_s:g} s in {where} and was stopped; nothing was changed."
        ) from error
    except FileNotFoundError as error:
        raise RepositoryError("git is not installed or not on the PATH; install it and run again.") from error
    if done.returncode:
        raise RepositoryError(_failure(command, where, done.stderr))
    return done.stdout


def _communicated(
    command: list[str], input: bytes, timeout_s: float, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """As `subprocess.run`, with git in a group of its own: what it started for a transport ends when it is given up."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
    ) as process:
        try:
            out, said = process.communicate(input, timeout=timeout_s)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, said)


def _failure(command: Sequence[str], where: Path | str, said: bytes) -> str:
    last = said.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1] or "it gave no reason"
    return f"`{_shown(command)}` failed in {where}: {last.removeprefix('fatal: ')}"


def _shown(command: Sequence[str]) -> str:
    """The command as a person would type it: without the settings that harden it."""
    words = list(command[4:])
    while words[:1] == ["-c"]:
        del words[:2]
    return " ".join(["git", *words[:3]])


def _asked_where(start: Path) -> list[str]:
    """Git directory, common directory, is it bare, is this a work tree, object format, and the way up to the top."""
    what = ["--path-format=absolute", "--absolute-git-dir", "--git-common-dir", "--is-bare-repository"]
    command = [*_command(start), "rev-parse", *what, "--is-inside-work-tree", "--show-object-format", "--show-cdup"]
    try:
        answers = _finished(command, where=start)
    except RepositoryError as error:
        if "not a git repository" in str(error):
            raise RepositoryError(
                f"{start} is not inside a git repository; nothing was changed; run this inside one, or name it."
            ) from error
        raise
    return answers.decode("utf-8", "surrogateescape").split("\n")


def _check_work_tree(root: Path, git_dir: Path) -> None:
    """`core.worktree` may name any folder; only one that points back to the repository is its work tree."""
    link = root / ".git"
    if link.resolve() == git_dir:
        return
    if link.is_file():
        text = link.read_text(encoding="utf-8", errors="surrogateescape").strip()
        if (root / text.removeprefix("gitdir:").strip()).resolve() == git_dir:
            return
    raise RepositoryError(
        f"{git_dir} says its work tree is {root}, which does not belong to it; nothing was read; check `core.worktree`."
    )


def _remote_head(by_name: Mapping[str, Ref]) -> Ref | None:
    """The remote's own word on its default branch: origin's, else that of the only remote that has one."""
    heads = [
        ref
        for name, ref in by_name.items()
        if name.startswith("refs/remotes/") and name.endswith("/HEAD") and ref.target in by_name
    ]
    for ref in heads:
        if ref.name == "refs/remotes/origin/HEAD":
            return ref
    return heads[0] if len(heads) == 1 else None


def _tips(name: str, by_name: Mapping[str, Ref], remote: str | None = None) -> tuple[str, ...]:
    wanted = (remote or f"refs/remotes/origin/{name}", f"refs/heads/{name}")
    return tuple(dict.fromkeys(by_name[ref].oid for ref in wanted if ref in by_name))


def _leading(name: str, by_name: Mapping[str, Ref]) -> str:
    remote = f"refs/remotes/origin/{name}"
    return remote if remote in by_name else f"refs/heads/{name}"


def _checked(oid: str) -> str:
    if not _SHA.fullmatch(oid):
        raise RepositoryError(f"`{oid[:80]}` is not an object id; nothing was read.")
    return oid


def _clean_room(common_dir: Path) -> Path:
    room = Path(tempfile.mkdtemp(prefix="reflect-git-"))
    (room / "refs").mkdir()
    (room / "objects").mkdir()
    (room / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    (room / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n", encoding="ascii")
    shallow = common_dir / "shallow"
    if shallow.exists():
        shutil.copyfile(shallow, room / "shallow")
    return room
