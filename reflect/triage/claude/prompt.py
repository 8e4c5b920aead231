"""The prompts: Markdown files of the package, each with a version of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import frontmatter

from reflect.evidence.own_output import PROMPT_MARKER


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. `version` is raised with every change of the text that may change an answer."""

    name: str
    version: str
    text: str

    def system(self, **values: object) -> str:
        """The instructions with `values` in their places; they open with the mark of this product's own prompts."""
        text = self.text
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        return f"{PROMPT_MARKER}\n{text.strip()}\n"


@lru_cache(maxsize=8)
def load_prompt(name: str) -> Prompt:
    """The prompt called `name`: reflect, plan or write."""
    text = resources.files("reflect.triage.claude").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    metadata, body = frontmatter.parse(text)
    return Prompt(name, str(metadata["version"]), body)
