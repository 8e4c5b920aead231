"""`reflect init`: everything a repository needs to be ingested, made once and safe to repeat."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from reflect.cli.hook import offer_hook
from reflect.cli.options import HERE, AsJson, Repository
from reflect.cli.skill import offer_skill
from reflect.freshness import FOLDER
from reflect.search.setup import set_up_qmd
from reflect.wiki.scaffold import scaffold
from reflect.workspace import Workspace


def init(
    repo: Repository = HERE,
    hook: Annotated[
        bool, typer.Option("--hook", help="Also let Claude Code say at session start whether the wiki is fresh.")
    ] = False,
    skill: Annotated[
        bool, typer.Option("--skill", help="Also tell agents how to use the wiki, in .claude/skills/reflect/.")
    ] = False,
    qmd: Annotated[
        bool, typer.Option("--qmd", help="Also install qmd (below the state folder) and let it search this wiki.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Make `.reflect/` in the repository. Never overwrites anything; say it again whenever you like.

    Examples: `reflect init`, `reflect init --hook --skill` (for agents), `reflect init --qmd` (search by meaning too).
    """
    workspace = Workspace.open(repo)
    made = list(scaffold(workspace.folder))
    if hook:
        made += offer_hook(workspace.git.root)
    if skill:
        made += offer_skill(workspace.git.root)
    collection, about_qmd = set_up_qmd(workspace, wanted=qmd)
    made += [collection] if collection else []
    if as_json:
        print(json.dumps({"project": workspace.project.project_id, "folder": FOLDER, "made": made, "qmd": about_qmd}))
        return 0
    print("\n".join(f"made {name}" for name in made) or f"{FOLDER}/ is already there; nothing to do.")
    print(about_qmd)
    if not (hook and skill):
        print("`reflect init --hook --skill` also adds a session-start hook and a skill for agents (.claude/).")
    print("Next: `reflect ingest`.")
    return 0
