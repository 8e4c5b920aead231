"""Which tools can bring a stranger's words into a conversation.

Source: the taint rules of the provenance reference, 2.4 and 3.1. The tables are closed: a tool that is not in its
agent's table is unknown, and unknown is never clean. What a person typed, pasted or attached arms nothing, because they
chose every word.

Decisions that the source leaves open:

- Reading, searching and editing the workspace is the project's own; see `places` for what does not count as workspace.
- `ToolSearch` gives the descriptions of tools. The harness wrote those of its own tools, strangers wrote those of MCP
  servers, so it is local only where it asks for local tools by name.
- `Skill` puts in a text that the person installed, which has the standing of the agent's own instructions. A skill from
  a plugin (`plugin:skill`) was written by the plugin's author and counts as a stranger's.
- A question put to the person and a plan shown to them bring back the person's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reflect.evidence.closed_list import closed_list
from reflect.evidence.places import Place
from reflect.evidence.shell import shell_danger

__all__ = ["Place", "danger", "is_harness_tool", "shell_danger", "skill_danger"]

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Tools:
    """What one agent's tools do. Everything not named here is unknown.

    `local` never brings anything in. `readers` name the arguments that hold a path. `shells` name the arguments that
    hold a command line and those that hold the directory it runs in.
    """

    local: frozenset[str]
    readers: Mapping[str, tuple[str, ...]]
    shells: Mapping[str, tuple[str, ...]]


_CLAUDE = _Tools(
    local=closed_list(
        "AskUserQuestion BashOutput CronCreate CronDelete CronList EnterPlanMode EnterWorktree ExitPlanMode "
        "ExitWorktree KillBash KillShell TaskCreate TaskGet TaskList TaskStop TaskUpdate TodoRead TodoWrite "
        "exit_plan_mode"
    ),
    readers={
        "Edit": ("file_path",),
        "Glob": ("path",),
        "Grep": ("path",),
        "LS": ("path",),
        "LSP": ("filePath",),
        "MultiEdit": ("file_path",),
        "NotebookEdit": ("notebook_path",),
        "NotebookRead": ("notebook_path",),
        "Read": ("file_path",),
        "Write": (),
    },
    shells={"Bash": ("command",)},
)
# BashOutput shows more of a command that was judged when it was started.

_AGENTS: dict[str, _Tools] = {
    "claude-code": _CLAUDE,
    "gemini-cli": _Tools(
        local=closed_list("ask_user complete_task enter_plan_mode exit_plan_mode save_memory write_todos"),
        readers={
            "glob": ("path", "dir_path"),
            "grep_search": ("path", "dir_path"),
            "list_directory": ("path", "dir_path"),
            "read_file": ("absolute_path", "file_path", "path"),
            "read_many_files": ("paths", "include"),
            "replace": ("file_path",),
            "search_file_content": ("path", "dir_path"),
            "write_file": (),
        },
        shells={"run_shell_command": ("command", "directory", "dir_path")},
    ),
    "codex": _Tools(
        local=closed_list("apply_patch request_user_input update_plan"),
        readers={
            "grep_files": ("path",),
            "list_dir": ("dir_path", "path"),
            "read_file": ("file_path", "path"),
            "view_image": ("path",),
        },
        shells={
            "exec_command": ("cmd", "workdir"),
            "local_shell": ("command", "workdir", "working_directory"),
            "shell": ("command", "workdir"),
            "shell_command": ("command", "workdir"),
        },
    ),
    "cursor": _Tools(
        local=closed_list("AskQuestion CreatePlan SwitchMode TodoWrite"),
        readers={
            "Delete": ("path",),
            "EditNotebook": ("path", "target_notebook"),
            "Glob": ("path", "target_directory"),
            "Grep": ("path",),
            "LS": ("path", "target_directory"),
            "Read": ("path",),
            "ReadLints": ("paths",),
            "StrReplace": ("path",),
            "Write": (),
        },
        shells={"Shell": ("command", "working_directory")},
    ),
    "opencode": _Tools(
        local=closed_list("plan_enter plan_exit question todoread todowrite"),
        readers={
            "edit": ("filePath",),
            "glob": ("path",),
            "grep": ("path",),
            "list": ("path",),
            "multiedit": ("filePath",),
            "patch": (),
            "read": ("filePath",),
            "write": (),
        },
        shells={"bash": ("command", "workdir")},
    ),
    "copilot-cli": _Tools(
        local=closed_list("ask_user report_intent stop_bash update_todo"),
        readers={
            "create": (),
            "edit": ("path",),
            "glob": ("path",),
            "grep": ("path",),
            "str_replace_editor": ("path",),
            "view": ("path",),
        },
        shells={"bash": ("command",)},
    ),
    "factory-droid": _Tools(
        local=closed_list("AskUser ExitSpecMode TodoWrite"),
        readers={
            "ApplyPatch": (),
            "Create": (),
            "Edit": ("file_path",),
            "Glob": ("folder", "path"),
            "Grep": ("path",),
            "LS": ("directory_path",),
            "MultiEdit": ("file_path",),
            "Read": ("file_path",),
        },
        shells={"Execute": ("command",)},
    ),
    "pi": _Tools(
        local=frozenset(),
        readers={
            "edit": ("path",),
            "find": ("path",),
            "grep": ("path",),
            "ls": ("path",),
            "read": ("path",),
            "write": (),
        },
        shells={"bash": ("command",)},
    ),
}

_NEEDS_A_PATH = frozenset({"Read", "read", "read_file", "view", "NotebookRead", "view_image", "read_many_files", "LSP"})
"""Readers that without a path have read something that was not recorded."""


def danger(agent: str, tool: str, arguments: Arguments, place: Place) -> str | None:
    """Why the result of this call may hold a stranger's words, in words; None where it cannot."""
    tools = _AGENTS.get(agent)
    if tools is None:
        return f"{tool} (an agent whose tools are not known)"
    if tool in tools.local:
        return None
    if tool in tools.shells:
        return _shell(tools.shells[tool], arguments, place)
    if tool in tools.readers:
        return _reader(tool, tools.readers[tool], arguments, place)
    special = _SPECIAL.get((agent, tool))
    return special(arguments) if special is not None else tool


def is_harness_tool(agent: str, tool: str) -> bool:
    """Whether the agent itself brings `tool`, and so words its errors. Any other (an MCP server's, one of a later
    version) writes there what it likes."""
    tools = _AGENTS.get(agent)
    own = tools is not None and (tool in tools.local or tool in tools.readers or tool in tools.shells)
    return own or (agent == "claude-code" and tool in _HARNESS_TOOLS)


def _shell(names: tuple[str, ...], arguments: Arguments, place: Place) -> str | None:
    line = arguments.get(names[0])
    if isinstance(line, list):
        line = _unwrapped(line)
    if not isinstance(line, str):
        return "a shell command that was not recorded"
    for name in names[1:]:
        directory = arguments.get(name)
        if isinstance(directory, str) and directory:
            place = place.moved(directory)
    return shell_danger(line, place)


def _unwrapped(words: list[Any]) -> str | None:
    """The line in `["bash", "-lc", line]`. Any other list of words cannot be told from one line by its text alone."""
    shells = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh")
    if len(words) == 3 and words[0] in shells and words[1] in ("-lc", "-c") and isinstance(words[2], str):
        return words[2]
    if words and all(isinstance(word, str) and word and not set(word) - _PLAIN_SIGNS for word in words):
        return " ".join(words)
    return None


_PLAIN_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+")


def _reader(tool: str, names: tuple[str, ...], arguments: Arguments, place: Place) -> str | None:
    paths: list[str] = []
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            paths.append(value)
        elif isinstance(value, list):
            paths.extend(item for item in value if isinstance(item, str))
    if not paths:
        if tool in _NEEDS_A_PATH:
            return f"{tool} of a file that was not recorded"
        return f"{tool} outside the workspace" if names and place.is_outside else None
    return f"{tool} outside the workspace" if any(place.is_foreign(path) for path in paths) else None


def skill_danger(name: str) -> str | None:
    """Why the text of a skill or slash command may be a stranger's: it came with a plugin."""
    return f"the plugin's skill {name[:60]}" if ":" in name or not name else None


def _skill(arguments: Arguments) -> str | None:
    name = arguments.get("skill") or arguments.get("command")
    return skill_danger(name) if isinstance(name, str) else "Skill"


def _tool_search(arguments: Arguments) -> str | None:
    query = arguments.get("query")
    if not isinstance(query, str) or not query.startswith("select:"):
        return "ToolSearch"
    asked = [name.strip() for name in query.removeprefix("select:").split(",")]
    return None if all(name in _HARNESS_TOOLS for name in asked) else "ToolSearch"


_HARNESS_TOOLS = (
    _CLAUDE.local
    | set(_CLAUDE.readers)
    | set(_CLAUDE.shells)
    | closed_list("Agent Monitor Skill Task TaskOutput ToolSearch WebFetch WebSearch SendMessage")
)
"""Tools whose descriptions Claude Code itself brings, whatever they do when they run."""

_SPECIAL: dict[tuple[str, str], Callable[[Arguments], str | None]] = {
    ("claude-code", "Skill"): _skill,
    ("claude-code", "ToolSearch"): _tool_search,
}
