"""Folders come from the format, the wiki and a closed list, never from the text of evidence."""

from __future__ import annotations

import pytest
import yaml

from reflect.configuration import DEFAULT_FORMAT, Format
from reflect.triage.categories import KINDS, Categories

DEFAULT = Format.model_validate(yaml.safe_load(DEFAULT_FORMAT))


def _format(*sections: dict[str, str]) -> Format:
    return Format.model_validate({"sections": list(sections)})


def test_the_default_format_names_the_specified_folders() -> None:
    categories = Categories.of(DEFAULT, ())
    assert {categories.folder_of[kind] for kind in KINDS} == set(KINDS)


def test_a_section_is_recognised_by_its_purpose() -> None:
    categories = Categories.of(_format({"name": "Lessons", "purpose": "things that burned time"}), ())
    assert categories.folder_of["gotchas"] == "lessons"
    assert categories.folder_of["decisions"] == "decisions"


@pytest.mark.parametrize(
    "names",
    [("日本語", "決定事項"), ("🚀", "🔥"), ("قرارات", "مشاكل"), ("Key Decisions & A", "Decisions & B")],
    ids=lambda names: f"hazard-161-{names[0]}",
)
def test_hazard_161_sections_of_any_script_never_share_a_folder(names: tuple[str, str]) -> None:
    categories = Categories.of(_format(*({"name": name} for name in names)), ())
    folders = set(_format(*({"name": name} for name in names)).categories)
    assert len(folders) == 2
    assert folders <= categories.known
    assert "general" not in categories.known


def test_a_section_about_a_topic_takes_what_speaks_of_it() -> None:
    categories = Categories.of(_format({"name": "Deployment"}), ())
    assert categories.place("gotchas", "The deployment fails when the tag is missing") == "deployment"
    assert categories.place("gotchas", "The build fails when the tag is missing") == "gotchas"


@pytest.mark.parametrize(
    "text",
    ["[24:33.098] it failed", "[x] done", "[12:01] start", "../../.github"],
    ids=lambda text: f"hazard-73-{text}",
)
def test_hazard_73_text_never_names_a_folder(text: str) -> None:
    assert Categories.of(DEFAULT, ()).place("gotchas", text) == "gotchas"


def test_existing_folders_are_known() -> None:
    assert "business" in Categories.of(DEFAULT, ("business",)).known
