"""The sample organisation that `make serve` shows where no organisation is named."""

from __future__ import annotations

from pathlib import Path

import yaml

from examples.organisation import build

FILE = "organisation.yaml"


def sample_organisation(folder: Path) -> dict[str, str]:
    """The environment of an organisation below `folder`, built there the first time; all its state is beside it."""
    file = folder / FILE
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        paths = build(folder / "repositories")
        projects = [{"id": path.name, "repository": str(path), "tags": ["harbour"]} for path in paths]
        described = {"name": "Harbour Goods", "state_dir": str(folder / "state"), "projects": projects}
        file.write_text(yaml.safe_dump(described, sort_keys=False), encoding="utf-8")
    return {
        "REFLECT_ORGANISATION": str(file),
        "REFLECT_STATE_DIR": str(folder / "state"),
        "PREFECT_HOME": str(folder / "prefect"),
    }
