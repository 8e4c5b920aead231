"""`reflect upgrade`: the files that `reflect init` put beside the wiki, as this version would write them."""

from __future__ import annotations

import json

from reflect.cli.hook import has_hook
from reflect.cli.options import HERE, AsJson, Repository
from reflect.cli.skill import BESIDE, SKILL, Upgrade, upgrade_skill
from reflect.workspace import Workspace


def upgrade(repo: Repository = HERE, as_json: AsJson = False) -> int:
    """Bring the agents' skill and hook up to date after a new version of reflect. Edits stay, whatever they are.

    A skill with edits is kept and the new one put beside it, for you to compare. Example: `reflect upgrade`.
    """
    root = Workspace.open(repo).git.root
    hook = Upgrade.UP_TO_DATE if has_hook(root) else Upgrade.NOT_INSTALLED
    skill = upgrade_skill(root)
    if as_json:
        print(json.dumps({"skill": skill, "hook": hook}))
        return 0
    print(f"skill: {skill} ({SKILL})" + (f"; the new one is {BESIDE}" if skill is Upgrade.KEPT else ""))
    print(f"hook: {hook}")
    if Upgrade.NOT_INSTALLED in (skill, hook):
        print("`reflect init --hook --skill` installs what is missing.")
    return 0
