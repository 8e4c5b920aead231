"""A program called `claude` for the search path: answers like the obedient model, and keeps what it was given."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

_PROGRAM = """#!{python}
import json, os, sys, time, uuid
sys.path.insert(0, {root!r})
from examples.obedient_model import answer
content = sys.stdin.read()
record = {{"arguments": sys.argv[1:], "content": content, "environment": dict(os.environ), "cwd": os.getcwd()}}
open(os.path.join({log!r}, uuid.uuid4().hex + ".json"), "w").write(json.dumps(record))
{before}
system = sys.argv[sys.argv.index("--system-prompt") + 1]
schema = json.loads(system.strip().splitlines()[-1])
told = {{"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "stop_reason": "end_turn",
        "usage": {{"input_tokens": 1, "output_tokens": 1}}, "result": json.dumps(answer(schema, content))}}
print(json.dumps(told))
"""


@dataclass(frozen=True)
class StandIn:
    """The program's folder, for the front of PATH, and the records of its runs."""

    folder: Path
    log: Path

    @classmethod
    def in_folder(cls, folder: Path, before: str = "") -> StandIn:
        """`before` is Python that runs once the question was read: it may print, sleep or exit."""
        log = folder / "log"
        log.mkdir(parents=True)
        program = folder / "claude"
        program.write_text(_PROGRAM.format(python=sys.executable, root=str(ROOT), log=str(log), before=before))
        program.chmod(0o755)
        return cls(folder, log)

    def records(self) -> list[str]:
        return [path.read_text() for path in sorted(self.log.iterdir())]
