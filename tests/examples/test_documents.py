"""Code and documents say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import AliasChoices

from reflect.cli.app import app
from reflect.configuration import Config, Format, FormatSection
from reflect.errors import ReflectError
from reflect.settings import Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9][0-9][0-9]-*.md"))


def table_keys(text: str) -> set[str]:
    """What stands in backticks in the first cell of any table."""
    return set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))


def settings_variables() -> Iterator[str]:
    prefix = Settings.model_config.get("env_prefix", "")
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        yield str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"{prefix}{name}".upper()


def error_classes(root: type[ReflectError] = ReflectError) -> Iterator[type[ReflectError]]:
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)


@pytest.mark.parametrize("key", [*Config.model_fields, *Format.model_fields, *settings_variables()])
def test_every_setting_has_a_row_in_the_readme(key: str) -> None:
    assert key in table_keys(README)


@pytest.mark.parametrize("key", FormatSection.model_fields)
def test_every_key_of_a_section_is_named(key: str) -> None:
    row = next(line for line in README.splitlines() if line.startswith("| `sections` |"))
    assert f"`{key}`" in row


def test_readme_names_no_setting_that_does_not_exist() -> None:
    known = {*Config.model_fields, *Format.model_fields, *settings_variables(), "PREFECT_API_URL"}
    assert {key for key in table_keys(README) if not key.startswith("reflect ")} <= known


@pytest.mark.parametrize("code", sorted({0, 1, 3, *(kind.exit_code for kind in error_classes())}))
def test_every_exit_code_is_explained(code: int) -> None:
    assert re.search(rf"^\| {code} \| \w", README, re.MULTILINE)


def test_every_command_is_in_the_readme() -> None:
    commands = [command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands]
    groups = [
        f"{group.name} {command.name or getattr(command.callback, '__name__', '')}"
        for group in app.registered_groups
        for command in (group.typer_instance.registered_commands if group.typer_instance else [])
    ]
    assert len(commands) >= 3
    assert {f"reflect {name}" for name in [*commands, *groups]} == {
        key for key in table_keys(README) if key.startswith("reflect ")
    }


def test_defaults_in_the_readme_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `?(\w+)`? \|", README, re.MULTILINE))
    for key in ("max_lines", "session_start", "engine", "max_new_pages", "seed_commits"):
        assert rows[key] == str(Config.model_fields[key].default)


def test_readme_leads_with_purpose_then_the_two_commands() -> None:
    head, _, rest = README.partition("```sh\n")
    commands = rest.split("```")[0].splitlines()
    assert len(head.strip().splitlines()) <= 6
    assert "wiki" in head
    assert [line.split("#")[0].strip() for line in commands] == ["make demo", "make test"]


def test_make_knows_the_commands_that_documents_name() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    texts = [path.read_text(encoding="utf-8") for path in DOCUMENTS]
    named = {target for text in texts for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE)}
    assert {"demo", "test", "check"} <= named
    assert named <= targets


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_names_a_machine_or_a_registry(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/work/|/root/|/Users/|/home/\w|pypi\.|npmjs|--index-url|--extra-index|localhost", text)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_resolve(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert not [target for target in targets if "://" not in target and not (path.parent / target).exists()]


def test_decisions_are_numbered_without_gaps_and_listed() -> None:
    index = DECISIONS[0].read_text(encoding="utf-8")
    assert [int(path.name[:3]) for path in DECISIONS] == list(range(len(DECISIONS)))
    for path in DECISIONS[1:]:
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert f"- [{title}]({path.name})" in index


def test_rooms_of_the_domain_stand_in_the_architecture() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.stem for path in (ROOT / "reflect").iterdir() if not path.name.startswith("_")]
    assert not [room for room in rooms if not re.search(rf"\b{room}\b", text)]
