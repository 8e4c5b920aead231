"""`reflect search` and `reflect evaluate` as a person and a program meet them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, CommandLine, clone_sample, command_line_in
from tests.search.conftest import Searched, with_session

QUESTIONS = Path(__file__).parent / "questions.yaml"


@pytest.fixture
def reflect(shop: Searched) -> CommandLine:
    return command_line_in(shop.settings.state, server=None)


def test_search_answers_in_the_shape_that_programs_read(shop: Searched, reflect: CommandLine) -> None:
    shop.page("decisions/retry.md", "Webhooks are retried three times.", "Retry policy")
    said = reflect.json("search", "webhooks", "--repo", shop.root)
    assert (said["query"], said["backend"]) == ("webhooks", "text")
    assert set(said["hits"][0]) == {"kind", "path", "id", "project", "title", "score", "snippet"}
    assert "**Webhooks** are retried" in said["hits"][0]["snippet"]


def test_at_once_and_in_full_the_answer_is_the_same(shop: Searched, reflect: CommandLine) -> None:
    shop.page("decisions/retry.md", "Webhooks are retried three times.", "Retry policy")
    with_session(shop, "please make the webhooks idempotent")
    time.sleep(0.05)
    arguments = ("search", "webhooks", "retried", "--repo", str(shop.root), "--limit", "5", "--explain")
    first = reflect.json(*arguments)
    assert reflect.json(*arguments) == first
    shown = reflect("search", "webhooks", "--repo", shop.root).stdout
    assert ". Retry policy\n   decisions/retry.md\n" in shown and "(text: " in shown


def test_nothing_heavy_is_loaded_for_an_index_that_is_up_to_date(shop: Searched) -> None:
    shop.page("decisions/retry.md", "Webhooks are retried three times.")
    time.sleep(0.05)
    shop.ask("webhooks")
    program = (
        "import sys; from reflect.cli.main import main; main(); "
        "print(sorted(name for name in sys.modules if name.split('.')[0] in "
        "{'typer', 'rich', 'prefect', 'git', 'sqlalchemy', 'pydantic', 'yaml', 'dataclasses', 'subprocess'}))"
    )
    environment = {**os.environ, "REFLECT_STATE_DIR": str(shop.settings.state)}
    command = [sys.executable, "-c", program, "search", "webhooks", "--json", "--repo", str(shop.root)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=True)
    answer, loaded = done.stdout.splitlines()
    assert json.loads(answer)["hits"] and loaded == "[]"


@pytest.mark.parametrize("question", ["-x", "--no-verify", '"', "NOT AND", "a*", "src/a.py", "C++", "日本"])
@pytest.mark.parametrize("flags", [[], ["--phrase", "--wiki-only", "--limit", "3"]])
def test_any_question_can_be_typed(shop: Searched, reflect: CommandLine, question: str, flags: list[str]) -> None:
    shop.page("a/one.md", "see src/a.py and -x and --no-verify and C++ and not and 日本")
    said = json.loads(reflect("search", "--repo", shop.root, *flags, "--json", "--", question).stdout)
    assert said["query"] == question


@pytest.mark.parametrize("arguments", [["--limit", "0", "x"], [""], ["--backend", "other", "x"], []])
def test_wrong_use_is_one_sentence_and_exit_code_2(shop: Searched, reflect: CommandLine, arguments: list[str]) -> None:
    done = reflect("search", "--repo", shop.root, *arguments, check=2)
    assert done.stdout == "" and done.stderr.strip()


def test_the_questions_over_the_sample_wiki_are_answered(sample_bundle: Path, tmp_path: Path) -> None:
    repository = clone_sample(sample_bundle, tmp_path / "sample")
    reflect = command_line_in(tmp_path / "state", server=None)
    said = reflect.json("evaluate", "--questions", QUESTIONS, "--repo", repository)
    figures: dict[str, Any] = said["questions"]
    assert figures["questions"] == 40
    assert figures["recall@3"] >= 0.85 and figures["mrr"] >= 0.7
    shown = reflect("evaluate", "--questions", QUESTIONS, "--repo", repository).stdout
    assert "recall@3: 0.9" in shown and "mrr: 0." in shown
    assert reflect("evaluate", "--questions", QUESTIONS, "--min-recall", "1", "--repo", repository, check=1).stdout
