"""`reflect init` and `reflect status`: putting qmd in place for one repository, and saying how it is."""

from __future__ import annotations

from typing import Any

from reflect.search.find import refresh_collection
from reflect.search.place import search_folder
from reflect.search.qmd.collection import Collection, State
from reflect.search.qmd.install import install
from reflect.search.qmd.program import Program, find_program, install_folder, why_unfit
from reflect.search.refresh import opened, refresh_index
from reflect.workspace import Workspace


def set_up_qmd(workspace: Workspace, *, wanted: bool) -> tuple[str, str]:
    """Register the repository with qmd where qmd works; `wanted` installs it first. What was made, and a sentence.

    Raises SearchError only where qmd was wanted and cannot be had.
    """
    state, root = workspace.settings.state, workspace.git.root
    program = install(install_folder(state)) if wanted else find_program(state, root)
    if program is None:
        return "", "qmd is not installed; `reflect init --qmd` installs it. Search answers without it."
    folder = search_folder(state, root)
    collection = Collection(folder, root, program)
    if not wanted and (reason := why_unfit(program, folder / "probe")) is not None:
        return "", f"qmd {program.version} cannot be used: {reason}. Search answers without it."
    was_there = collection.is_registered()
    with opened(workspace) as index:
        refresh_index(index, workspace)
        said = refresh_collection(collection, index, workspace)
    if said.fault:
        return "", f"qmd {program.version} could not index the wiki: {said.fault}. Search answers without it."
    made = "" if was_there else f"qmd collection {collection.name}"
    return made, f"qmd {program.version} searches the collection {collection.name} ({said.pages} pages)."


def qmd_status(workspace: Workspace) -> dict[str, Any]:
    """How qmd stands for this repository; starts nothing."""
    state, root = workspace.settings.state, workspace.git.root
    program = find_program(state, root)
    said: dict[str, Any] = {"installed": program is not None, "program": None, "version": None, "node": None}
    if program is None:
        return said
    collection = Collection(search_folder(state, root), root, program)
    registered = collection.is_registered()
    return {
        **said,
        **_of_program(program),
        "collection": collection.name if registered else None,
        **_of_state(collection.state() if registered else None),
    }


def _of_program(program: Program) -> dict[str, Any]:
    return {"program": program.script, "version": program.version, "node": program.node}


def _of_state(state: State | None) -> dict[str, Any]:
    if state is None:
        return {"pages": None, "vectors": None, "refreshed_at": None, "fault": None}
    return {
        "pages": state.pages,
        "vectors": state.vectors,
        "refreshed_at": state.refreshed_at,
        "fault": state.fault or None,
    }
