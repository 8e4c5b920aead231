"""The session-start hook in `.claude/settings.json`: added beside whatever stands there, never twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reflect.errors import ConfigurationError

SETTINGS = ".claude/settings.json"
COMMAND = "reflect session-start"


def offer_hook(root: Path) -> list[str]:
    """Add the hook to the Claude Code settings of the repository at `root`; the files changed, by name.

    Raises ConfigurationError where the settings cannot be read; they then stay as they are.
    """
    path = root / SETTINGS
    settings = _read(path)
    starts = _list(_mapping(settings, "hooks", path), "SessionStart", path)
    if any(COMMAND in json.dumps(entry) for entry in starts):
        return []
    starts.append({"hooks": [{"type": "command", "command": COMMAND}]})
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [SETTINGS]


def has_hook(root: Path) -> bool:
    """Whether the Claude Code settings of the repository at `root` call the hook, in whatever form."""
    return COMMAND in json.dumps(_read(root / SETTINGS).get("hooks"))


def _read(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise _unusable(path, str(error)) from error
    if not isinstance(loaded, dict):
        raise _unusable(path, f"it holds a {type(loaded).__name__}")
    return loaded


def _mapping(settings: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    value = settings.setdefault(key, {})
    if not isinstance(value, dict):
        raise _unusable(path, f"`{key}` is a {type(value).__name__}")
    return value


def _list(hooks: dict[str, Any], key: str, path: Path) -> list[Any]:
    value = hooks.setdefault(key, [])
    if not isinstance(value, list):
        raise _unusable(path, f"`hooks.{key}` is a {type(value).__name__}")
    return value


def _unusable(path: Path, reason: str) -> ConfigurationError:
    return ConfigurationError(f"{path} cannot take the session-start hook ({reason}); it was left as it is.")
