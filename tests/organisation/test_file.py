"""The organisation file: what it takes, and that everything wrong is told at once, by line and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.sessions import GitRepository
from reflect.configuration import Caps, ClaudeConfig, Config
from reflect.errors import ConfigurationError
from reflect.organisation.estate import Estate
from reflect.organisation.file import Organisation, load_organisation, why_missing
from reflect.workspace import Membership, Workspace


def load(folder: Path, text: str) -> Organisation:
    file = folder / "organisation.yaml"
    file.write_text(text, encoding="utf-8")
    return load_organisation(file)


def wrong(folder: Path, text: str) -> list[str]:
    """What is wrong with `text`, as `line: key: reason`."""
    with pytest.raises(ConfigurationError) as raised:
        load(folder, text)
    return re.findall(r"organisation\.yaml:(\d+: .*)", str(raised.value))


def test_the_example_loads() -> None:
    organisation = load_organisation(Path(__file__).parents[2] / "deployments" / "organisation.example.yaml")
    assert organisation.members["billing"].is_remote
    assert not organisation.members["infra"].is_remote


def test_everything_wrong_is_listed_at_once_by_line_and_key(tmp_path: Path) -> None:
    said = wrong(
        tmp_path,
        """\
name: Harbour
colour: blue
nightly:
  at_once: 0
projects:
  - id: billing
    repository: a
  - id: billing
    repository: b
  - id: organisation
    repository: c
  - id: infra
    repository: a
  - id: shop
    repository: https://forge.example/shop.git
    publish: {mode: commit}
  - id: web
  - id: Docs
    repository: ext::sh -c true
    workspace_roots: [/]
""",
    )
    assert [line.split(":", 2)[:2] for line in said] == [
        ["2", " colour"],
        ["4", " nightly.at_once"],
        ["8", " projects[1].id"],
        ["10", " projects[2].id"],
        ["13", " projects[3].repository"],
        ["16", " projects[4].publish.mode"],
        ["17", " projects[5].repository"],
        ["18", " projects[6].id"],
        ["19", " projects[6].repository"],
        ["20", " projects[6].workspace_roots[0]"],
    ]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("name: a\nname: b\nprojects: [{id: x, repository: x}]\n", "2: name: is given twice"),
        ("name: a\n", "1: projects: names no project, and nothing is discovered"),
        ("name: a\nprojects: []\n", "2: projects: names no project, and nothing is discovered"),
        (
            "name: a\nprojects:\n- {id: x, repository: x, overrides: {engin: y}}\n",
            "3: projects[0].overrides: engin: no such setting",
        ),
        (
            "name: a\nprojects:\n- {id: x, repository: x, overrides: {max_lines: 1}}\n",
            "3: projects[0].overrides: max_lines is 1: ",
        ),
        (
            "name: a\nprojects:\n- {id: x, repository: x, memory_enabled: 'no'}\n",
            "3: projects[0].memory_enabled: is 'no'",
        ),
    ],
)
def test_a_fault_is_told_where_it_stands(tmp_path: Path, text: str, key: str) -> None:
    assert any(line.startswith(key) for line in wrong(tmp_path, text)), wrong(tmp_path, text)


@pytest.mark.parametrize("text", ["", "- a\n", "a: [\n", "a: &x [*x]\n"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"organisation\.yaml cannot be used"):
        load(tmp_path, text)


def test_a_password_in_an_address_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds no password or token") as raised:
        load(tmp_path, "name: a\nprojects:\n- {id: x, repository: 'https://me:geheim@forge.example/x.git'}\n")
    assert "geheim" not in str(raised.value)


_SECRET = "g3h3im0000"


@pytest.mark.parametrize(
    "text",
    [
        f"name: a\nprojects: [{{id: x, repository: 'ftp://me:{_SECRET}@forge.example/x.git'}}]\n",
        f"name: a\nprojects: [{{id: x, repository: 'me:{_SECRET}@forge.example:x.git'}}]\n",
        f"name: a\nprojects: [{{id: x, repository: 'https://forge.example/x.git?private_token={_SECRET}'}}]\n",
        f"name: a\nprojects: [{{id: x, repository: 'https://{_SECRET}@f.example/x'}}, "
        f"{{id: y, repository: 'https://{_SECRET}@f.example/x'}}]\n",
        f"name: a\nprojects: [{{id: x, repository: x, publish: {{api_url: 'ftp://me:{_SECRET}@forge.example'}}}}]\n",
        f"name: a\nledger: ['postgresql://me:{_SECRET}@db.example/x']\nprojects: [{{id: x, repository: x}}]\n",
        f"name: a\nledger: postgresql://me:{_SECRET}@db.example/x: y\n",
        f"name: a\nprojects:\n- repository: 'https://me:{_SECRET}@forge.example/x\n",
        f"name: a\nprojects: [{{id: x, repository: x, overrides: {{token: {_SECRET}}}}}]\n",
    ],
    ids=["scheme", "no-scheme", "query", "twice", "api", "ledger", "yaml", "yaml-quote", "override"],
)
def test_no_fault_repeats_what_could_be_a_secret(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"organisation\.yaml cannot be used") as raised:
        load(tmp_path, text)
    assert _SECRET not in str(raised.value)


def test_a_token_in_place_of_a_user_is_refused(tmp_path: Path) -> None:
    token = "glpat-" + "a1B2" * 6
    with pytest.raises(ConfigurationError, match="no password or token") as raised:
        load(tmp_path, f"name: a\nprojects: [{{id: x, repository: 'https://{token}@forge.example/x.git'}}]\n")
    assert token not in str(raised.value)
    assert load(tmp_path, "name: a\nprojects: [{id: x, repository: 'https://ann@forge.example/x.git'}]\n").members["x"]


@pytest.mark.parametrize("pattern", ["", "/", "**foo", "~no-such-user-here/*"])
def test_a_pattern_that_names_no_folder_is_told_with_all_else(tmp_path: Path, pattern: str) -> None:
    assert wrong(tmp_path, f"name: a\ncolour: b\ndiscovery: {{clones: ['{pattern}']}}\n")[1].startswith(
        "3: discovery.clones: "
    )


def test_a_repository_in_place_that_cannot_be_read_is_not_called_new_without_a_word(tmp_path: Path) -> None:
    made = GitRepository.create(tmp_path / "x")
    made.commit("feat: a", {"a": "1"})
    file = tmp_path / "organisation.yaml"
    file.write_text("name: a\nprojects: [{id: x, repository: x}]\n", encoding="utf-8")
    assert Estate.load(file).news("x").unknown == ""
    (made.path / ".git" / "HEAD").write_text("junk", encoding="utf-8")
    assert "not inside a git repository" in Estate.load(file).news("x").unknown


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    organisation = load(
        tmp_path, "name: a\nhome: wiki\nstate_dir: state\nprojects: [{id: x, repository: x, workspace_roots: [y]}]\n"
    )
    member = organisation.members["x"]
    assert (organisation.home, organisation.state_dir) == (tmp_path / "wiki", tmp_path / "state")
    assert (member.repository, member.workspace_roots) == (str(tmp_path / "x"), (str(tmp_path / "y"),))


def test_a_repository_that_is_gone_is_named(tmp_path: Path) -> None:
    GitRepository.create(tmp_path / "here")
    organisation = load(tmp_path, "name: a\nprojects: [{id: here, repository: here}, {id: gone, repository: gone}]\n")
    assert [one.id for one in organisation.projects if why_missing(one)] == ["gone"]


def test_clones_below_a_folder_are_projects(tmp_path: Path) -> None:
    for name in ("a/api", "b/api", "a/Web Shop", "a/old"):
        GitRepository.create(tmp_path / name)
    (tmp_path / "a" / "no-clone").mkdir()
    organisation = load(
        tmp_path,
        "name: a\ndiscovery: {clones: ['*/*'], exclude: [old]}\nprojects: [{id: shop, repository: a/Web Shop}]\n",
    )
    ids = [member.id for member in organisation.projects]
    assert ids[0] == "shop"
    assert [re.sub("[0-9a-f]{6}$", "#", one) for one in ids[1:]] == ["api-#", "api-#"]
    assert len(set(ids)) == 3


def test_a_clone_alone_of_its_name_is_called_by_it(tmp_path: Path) -> None:
    GitRepository.create(tmp_path / "Web Shop").commit("feat: a", {"a": "1"})
    assert [one.id for one in load(tmp_path, "name: a\ndiscovery: {clones: ['*']}\n").projects] == ["web-shop"]


def test_the_organisation_limits_what_a_repository_may_spend_and_whom_it_trusts(tmp_path: Path) -> None:
    made = GitRepository.create(tmp_path / "x")
    (made.path / ".reflect").mkdir()
    (made.path / ".reflect" / "config.yaml").write_text(
        "trusted_authors: [mallory@example.com]\nbot_authors: [bot@example.com]\nmax_lines: 80\n"
        "claude: {caps: {repository_usd: 50, call_usd: 0.01}}\n",
        encoding="utf-8",
    )
    file = tmp_path / "organisation.yaml"
    file.write_text(
        "name: a\nhome: wiki\ncaps: {repository_usd: 0.2, call_usd: 0.2}\nnightly: {cap_usd: 0.1}\nprojects:\n"
        "- {id: x, repository: x, trusted_authors: [ann@example.com], bot_authors: [ci@example.com],"
        " overrides: {max_new_pages: 3}}\n",
        encoding="utf-8",
    )
    workspace = Estate.load(file).workspace("x")
    assert workspace is not None
    config = workspace.config
    assert config.trusted_authors == ("ann@example.com",)
    assert config.bot_authors == ("bot@example.com", "ci@example.com")
    assert (config.max_new_pages, config.max_lines) == (3, 80)
    assert (config.claude.caps.repository_usd, config.claude.caps.call_usd) == (0.2, 0.01)
    assert config.claude.caps.night_usd == 0.1, "the night's cap holds for each call of it"
    assert workspace.organisation_home == tmp_path / "wiki"
    assert workspace.project.project_id == "x"


def test_the_branch_of_a_member_is_read_before_the_one_its_remote_names(tmp_path: Path) -> None:
    made = GitRepository.create(tmp_path / "x")
    made.commit("feat: a", {"a": "1"})
    made.git("branch", "release")
    made.commit("feat: b", {"a": "2"})
    file = tmp_path / "organisation.yaml"
    file.write_text("name: a\nprojects: [{id: x, repository: x, branch: release}]\n", encoding="utf-8")
    workspace = Estate.load(file).workspace("x")
    assert workspace is not None
    assert workspace.default.name == "release"


def test_without_a_word_of_the_organisation_the_repository_keeps_its_own(tmp_path: Path) -> None:
    made = GitRepository.create(tmp_path / "x")
    alone = Workspace.open(made.path)
    membership = Membership(alone.registry, alone.project)
    config = Config(trusted_authors=("ann@example.com",), claude=ClaudeConfig(caps=Caps(night_usd=9)))
    assert membership.applied(config) == config
