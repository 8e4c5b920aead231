"""Managed clones against real remotes: a fetch, a kill, a rename, a password."""

from __future__ import annotations

import base64
import http.server
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.errors import RepositoryError
from reflect.evidence.git import Git, without_credentials
from reflect.organisation.clones import Clone, checkpoint_address
from reflect.organisation.estate import Estate


def grow(path: Path) -> GitRepository:
    made = GitRepository.create(path)
    made.commit(
        "feat: take orders\n\nFloats lose cents, so amounts are integers.",
        {"shop.py": "a = 1\n", ".reflect/config.yaml": "max_lines: 80\n"},
    )
    said = ClaudeTranscript("s").prompt("add a cart").reply("Done.").prompt("no, never use floats here")
    made.checkpoint_branch([("1" * 12, [StoredSession(said.encode(), "s")])])
    return made


@pytest.fixture
def remote(tmp_path: Path) -> GitRepository:
    return grow(tmp_path / "remote")


@pytest.fixture
def clone(tmp_path: Path, remote: GitRepository) -> Clone:
    return Clone(f"file://{remote.path}", tmp_path / "clones" / "shop")


def names(git: Git) -> set[str]:
    return {ref.name.removeprefix("refs/") for ref in git.refs()}


def test_a_clone_holds_heads_and_checkpoints_and_its_tree_the_wiki_alone(clone: Clone, remote: GitRepository) -> None:
    remote.git("update-ref", "refs/entire/checkpoints/v2/one", "HEAD")
    git = clone.fetch()
    assert names(git) == {
        "remotes/origin/HEAD",
        "remotes/origin/main",
        "remotes/origin/entire/checkpoints/v1",
        "entire/checkpoints/v2/one",
    }
    tree = clone.checked_out()
    assert sorted(path.name for path in tree.iterdir()) == [".git", ".reflect"]
    assert Git.open(tree).default_branch(None).name == "main"


def test_hazard_61_a_submodule_that_nobody_may_read_is_not_asked_for(clone: Clone, remote: GitRepository) -> None:
    modules = '[submodule "inner"]\n\tpath = inner\n\turl = https://127.0.0.1:1/private.git\n'
    (remote.path / ".gitmodules").write_text(modules)
    remote.git("add", ".gitmodules")
    remote.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},inner")
    remote.git("commit", "-q", "-m", "add a private submodule")
    clone.fetch()
    tree = clone.checked_out()
    assert Git.open(tree).default_branch(None).tips == (remote.git("rev-parse", "HEAD"),)
    assert not (tree / "inner").exists()


def test_a_clone_drops_deleted_branches_and_keeps_checkpoints(clone: Clone, remote: GitRepository) -> None:
    remote.git("branch", "a")
    remote.git("update-ref", "refs/entire/checkpoints/v2/one", "HEAD")
    clone.fetch()
    remote.git("branch", "-D", "a")
    remote.git("branch", "a/b")
    remote.git("update-ref", "-d", "refs/entire/checkpoints/v2/one")
    remote.git("branch", "-D", "entire/checkpoints/v1")
    kept = names(clone.fetch())
    assert "remotes/origin/a/b" in kept
    assert "remotes/origin/a" not in kept
    assert {"entire/checkpoints/v2/one", "remotes/origin/entire/checkpoints/v1"} <= kept


def test_a_branch_renamed_upstream_is_followed(clone: Clone, remote: GitRepository) -> None:
    clone.fetch()
    clone.checked_out()
    remote.git("branch", "-m", "main", "trunk")
    sha = remote.commit("feat: more", {"b": "1"})
    git = clone.fetch()
    assert git.default_branch(None).name == "trunk"
    assert Git.open(clone.checked_out()).head().oid == sha


@pytest.mark.parametrize(
    "left",
    ["packed-refs.lock", "shallow.lock", "config.lock", "refs/remotes/origin/main.lock", "objects/pack/tmp_pack_x"],
)
def test_what_a_killed_fetch_left_is_cleared(clone: Clone, remote: GitRepository, left: str) -> None:
    clone.fetch()
    (clone.repository / left).parent.mkdir(parents=True, exist_ok=True)
    (clone.repository / left).write_bytes(b"")
    sha = remote.commit("feat: more", {"b": "1"})
    assert clone.fetch().default_branch(None).tips == (sha,)
    assert not (clone.repository / left).exists()


@pytest.mark.parametrize("damage", ["HEAD", "config"])
def test_a_clone_that_cannot_be_opened_is_made_anew_and_pages_survive(clone: Clone, damage: str) -> None:
    clone.fetch()
    page = clone.checked_out() / ".reflect" / "wiki" / "page.md"
    page.parent.mkdir()
    page.write_text("the only one there is", encoding="utf-8")
    (clone.repository / damage).write_bytes(b"\0broken")
    clone.fetch()
    tree = clone.checked_out()
    assert (tree / ".reflect" / "wiki" / "page.md").read_text(encoding="utf-8") == "the only one there is"
    assert Git.open(tree).default_branch(None).name == "main"


def test_a_clone_killed_before_it_was_whole_is_begun_again(clone: Clone) -> None:
    (clone.folder / "making-repository.git" / "objects").mkdir(parents=True)
    assert clone.fetch().default_branch(None).name == "main"
    assert not (clone.folder / "making-repository.git").exists()


def test_pages_nobody_took_yet_stand_when_the_remote_moves(clone: Clone, remote: GitRepository) -> None:
    clone.fetch()
    page = clone.checked_out() / ".reflect" / "wiki.md"
    page.write_text("ours", encoding="utf-8")
    remote.commit("docs: theirs", {".reflect/wiki.md": "theirs"})
    clone.fetch()
    assert (clone.checked_out() / ".reflect" / "wiki.md").read_text(encoding="utf-8") == "ours"


def test_a_branch_that_is_not_there_is_refused_by_name(clone: Clone) -> None:
    with pytest.raises(RepositoryError, match="has no branch 'release'"):
        Clone(clone.address, clone.folder, "release").fetch()


@pytest.mark.parametrize(
    ("origin", "named", "address"),
    [
        ("https://forge.example/a/b.git", "a/checkpoints", "https://forge.example/a/checkpoints.git"),
        ("git@forge.example:a/b.git", "a/checkpoints", "git@forge.example:a/checkpoints.git"),
        ("https://forge.example/a/b.git", "https://other.example/x.git", None),
        ("https://forge.example/a/b.git", "http://forge.example/x.git", None),
        ("https://forge.example/a/b.git", "https://me:word@forge.example/x.git", None),
        ("https://forge.example/a/b.git", "ext::sh -c true", None),
        ("file:///srv/b.git", "file:///etc/x.git", None),
        ("file:///srv/b.git", "../x", None),
        ("https://forge.example/a/b.git", "other/secret", None),
        ("https://forge.example/a/b.git", "https://forge.example/other/x.git", None),
        ("https://forge.example/a/b.git", "https://forge.example/a/x.git", "https://forge.example/a/x.git"),
        ("git@forge.example:a/b.git", "other/secret", None),
    ],
)
def test_checkpoints_are_fetched_from_the_repositorys_own_host_and_owner_alone(
    origin: str, named: str, address: str | None
) -> None:
    assert checkpoint_address(origin, named) == address


class _Guarded(http.server.BaseHTTPRequestHandler):
    """Git's own http server, behind a password."""

    root: Path

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body: bytes) -> None:
        if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"x-access-token:geheim").decode():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="forge"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        variables = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=variables, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        self.send_response(200)
        for line in head.decode().splitlines():
            self.send_header(*line.split(": ", 1))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def forge(remote: GitRepository) -> Iterator[str]:
    handler = type("Handler", (_Guarded,), {"root": remote.path.parent})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/remote/.git"
        finally:
            server.shutdown()
            thread.join()


def test_the_token_of_the_environment_opens_the_remote_and_is_written_nowhere(
    forge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFLECT_GIT_TOKEN", "geheim")
    clone = Clone(forge, tmp_path / "guarded")
    assert clone.fetch().default_branch(None).name == "main"
    clone.checked_out()
    written = [path for path in clone.folder.rglob("*") if path.is_file() and b"geheim" in path.read_bytes()]
    assert written == []


def test_no_helper_of_a_person_is_given_the_token_to_keep(
    forge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, configuration = tmp_path / "kept", tmp_path / "gitconfig"
    configuration.write_text(f"[credential]\n\thelper = store --file={kept}\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    monkeypatch.setenv("REFLECT_GIT_TOKEN", "geheim")
    Clone(forge, tmp_path / "guarded").fetch()
    assert not kept.exists()


def test_without_a_token_the_helper_of_a_person_is_asked(
    forge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, configuration = tmp_path / "kept", tmp_path / "gitconfig"
    kept.write_text(forge.replace("://", "://x-access-token:geheim@").removesuffix("/remote/.git") + "\n")
    configuration.write_text(f"[credential]\n\thelper = store --file={kept}\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    monkeypatch.delenv("REFLECT_GIT_TOKEN", raising=False)
    assert Clone(forge, tmp_path / "guarded").fetch().default_branch(None).name == "main"


def test_a_remote_that_says_nothing_is_given_up_with_all_that_asked_it(tmp_path: Path, remote: GitRepository) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(10)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
        with pytest.raises(RepositoryError, match="took longer"):
            Git.open(remote.path).network("ls-remote", "--", address, address=address, timeout_s=1)
        asking, _ = silent.accept()
        asking.settimeout(10)
        while asking.recv(1 << 16):  # ends when the program that asked has ended
            pass
        asking.close()


def test_a_cut_remote_is_read_and_what_it_lacked_is_fetched_when_it_has_it(
    tmp_path: Path, remote: GitRepository
) -> None:
    sha = remote.commit("feat: more", {"b": "1"})
    cut = tmp_path / "cut.git"
    remote.git("clone", "--quiet", "--bare", "--depth", "1", "--no-single-branch", f"file://{remote.path}", str(cut))
    clone = Clone(f"file://{cut}", tmp_path / "clones" / "cut")
    git = clone.fetch()
    assert (git.default_branch(None).tips, git.is_shallow()) == ((sha,), True)
    remote.git("-C", str(cut), "fetch", "--quiet", "--unshallow", "origin")
    git = clone.fetch()
    assert not git.is_shallow()
    assert len(git.lines("rev-list", sha)) == 2


def test_separate_checkpoints_stand_beside_those_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: GitRepository
) -> None:
    own = remote.git("rev-parse", "entire/checkpoints/v1").strip()
    apart = GitRepository.create(tmp_path / "served" / "o" / "apart.git")
    said = ClaudeTranscript("t").prompt("ship it").reply("Done.").prompt("no, run the tests first")
    apart.commit("feat: keep", {"a": "1"})
    apart.checkpoint_branch([("2" * 12, [StoredSession(said.encode(), "t")])])
    settings = '{"strategy_options": {"checkpoint_remote": {"provider": "x", "repo": "o/apart"}}}'
    remote.commit("chore: keep checkpoints apart", {".entire/settings.json": settings})
    remote.path.rename(tmp_path / "served" / "o" / "remote.git")
    handler = type("Handler", (_Guarded,), {"root": tmp_path / "served"})
    monkeypatch.setenv("REFLECT_GIT_TOKEN", "geheim")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            clone = Clone(f"http://127.0.0.1:{server.server_port}/o/remote.git", tmp_path / "clone")
            found = [clone.fetch().refs("refs/heads", "refs/remotes/origin/entire") for _ in range(2)]
        finally:
            server.shutdown()
            thread.join()
    theirs = apart.git("rev-parse", "entire/checkpoints/v1").strip()
    assert [[ref.oid for ref in refs] for refs in found] == [[theirs, own], [theirs, own]]


def test_two_organisations_share_no_clone(tmp_path: Path) -> None:
    folders = set()
    for name in ("one", "two"):
        file = tmp_path / f"{name}.yaml"
        address = f"file://{tmp_path}/{name}.git"
        file.write_text(
            f"name: {name}\nstate_dir: state\nprojects: [{{id: shop, repository: '{address}'}}]\n", encoding="utf-8"
        )
        clone = Estate.load(file).clone("shop")
        assert clone is not None
        folders.add(clone.folder)
    assert len(folders) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("https://me:geheim@forge.example/x", "https://forge.example/x"),
        ("https://me:ge@heim@forge.example/x", "https://forge.example/x"),
        ("ftp://geheim@forge.example/x", "ftp://forge.example/x"),
        ("https://forge.example/x?private_token=geheim&a=geheim", "https://forge.example/x?***"),
        ("Authorization: Basic geheim", "Authorization:***"),
        ("me:geheim@forge.example", "forge.example"),
        (
            "git@forge.example:a/b.git was refused: ann@a.example",
            "git@forge.example:a/b.git was refused: ann@a.example",
        ),
    ],
)
def test_credentials_are_left_out_of_what_is_told(text: str, told: str) -> None:
    assert without_credentials(text) == told


@pytest.mark.parametrize("token", ["", "falsch-und-geheim"])
def test_a_remote_that_refuses_is_told_without_the_token(
    forge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("REFLECT_GIT_TOKEN", token)
    address = forge.replace("://", "://somebody@") if token else forge
    with pytest.raises(RepositoryError) as raised:
        Clone(address, tmp_path / "guarded").fetch()
    assert "falsch" not in str(raised.value)
    assert "somebody" not in str(raised.value)


def test_news_of_a_remote_that_cannot_be_reached_is_for_the_run_to_find_out(tmp_path: Path) -> None:
    file = tmp_path / "organisation.yaml"
    file.write_text(
        f"name: a\nstate_dir: state\nprojects: [{{id: gone, repository: 'file://{tmp_path}/gone.git'}}]\n",
        encoding="utf-8",
    )
    estate = Estate.load(file)
    assert estate.news("gone").is_new
    with pytest.raises(RepositoryError, match="gone"), estate.opened("gone"):
        pass
