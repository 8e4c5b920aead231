"""`reflect doctor`: what is installed, what can be reached, and whether the engine that costs money could be asked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer
from rich.table import Table

from reflect.cli.options import HERE, AsJson, Repository
from reflect.cli.terminal import console
from reflect.errors import ConfigurationError, ReflectError
from reflect.evidence.checkpoints import BRANCH, REFS
from reflect.evidence.inventory import take_inventory
from reflect.ledger.database import masked
from reflect.organisation.estate import Estate
from reflect.search.setup import qmd_status
from reflect.settings import Settings
from reflect.workspace import Workspace

_PACKAGES = ("reflect-wiki", "prefect", "great-expectations", "sqlalchemy", "anthropic")
_LIVE_TOKENS = 16
OK, NOTE, FAULT = "ok", "note", "fault"


@dataclass(frozen=True, slots=True)
class Checked:
    """One line. `state` is ok, note (works, but worth knowing) or fault."""

    what: str
    state: str
    said: str


def doctor(
    repo: Repository = HERE,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Ask the provider for its models and for one tiny answer (costs a fraction of a cent)."
        ),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check what is installed and what can be reached. Nothing is changed, and no key is ever shown.

    Exit codes: 0 everything works, 1 at least one fault, 2 wrong usage.
    """
    found = tuple(_checks(repo, live))
    if as_json:
        print(json.dumps({"checks": [asdict(one) for one in found]}))
    else:
        _show(found)
    return int(any(one.state == FAULT for one in found))


def _checks(repo: Repository, live: bool) -> Iterator[Checked]:
    yield Checked("python", OK, sys.version.split()[0])
    yield from (_package(name) for name in _PACKAGES)
    yield _said("git", _git)
    settings = Settings.of_environment()
    yield _said("organisation file", lambda: _organisation(settings))
    try:
        workspace = Workspace.open(repo, settings)
    except ReflectError as error:
        yield Checked("repository", FAULT, str(error))
        return
    yield Checked("repository", OK, workspace.project.project_id)
    yield _said("checkpoints", lambda: _checkpoints(workspace))
    yield _said("ledger", lambda: _ledger(workspace))
    yield _said("qmd", lambda: _qmd(workspace))
    yield from _claude(workspace, live)


def _checkpoints(workspace: Workspace) -> str | Checked:
    """How many checkpoints this clone holds; where there are none, where they were looked for."""
    found = len(take_inventory(workspace.git, workspace.default).checkpoints)
    if found:
        return str(found)
    return Checked(
        "checkpoints",
        NOTE,
        f"none in this clone: looked at the branch {BRANCH}, here and on its remotes, and below {REFS} "
        f"(`git fetch origin '+{REFS}*:{REFS}*'` brings those of a remote)",
    )


def _said(what: str, check: Callable[[], str | Checked]) -> Checked:
    """What `check` says, or the fault it raises."""
    try:
        told = check()
    except ReflectError as error:
        return Checked(what, FAULT, str(error))
    return told if isinstance(told, Checked) else Checked(what, OK, told)


def _package(name: str) -> Checked:
    try:
        return Checked(name, OK, version(name))
    except PackageNotFoundError:
        return Checked(name, NOTE if name in ("anthropic", "reflect-wiki") else FAULT, "not installed")


def _git() -> str | Checked:
    program = shutil.which("git")
    if program is None:
        return Checked("git", FAULT, "not on the search path")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=10)
    return done.stdout.strip().removeprefix("git version ")


def _organisation(settings: Settings) -> str | Checked:
    if settings.organisation is None:
        return Checked("organisation file", OK, "none named (REFLECT_ORGANISATION)")
    estate = Estate.load(settings.organisation)
    return f"{settings.organisation}: {len(estate.projects)} projects"


def _ledger(workspace: Workspace) -> str:
    with workspace.ledger() as ledger:
        ledger.last_run(workspace.project.project_id)
        return ledger.name


def _qmd(workspace: Workspace) -> Checked:
    told = qmd_status(workspace)
    if not told["installed"]:
        return Checked("qmd", OK, "not installed (optional)")
    return Checked("qmd", NOTE if told["fault"] else OK, str(told["fault"] or told["version"]))


def _claude(workspace: Workspace, live: bool) -> Iterator[Checked]:
    from reflect.triage.claude.prices import priced, published_at

    claude, settings = workspace.config.claude, workspace.settings
    has_key = settings.anthropic_api_key is not None
    chosen = workspace.config.engine == "claude"
    source = "ANTHROPIC_API_KEY" if has_key else "none: ANTHROPIC_API_KEY is not set, and nothing else is looked at"
    if claude.provider != "anthropic":
        source = f"what {claude.provider} finds in the environment"
    missing = not has_key and claude.provider == "anthropic"
    yield Checked("key", FAULT if chosen and missing else OK, source)
    yield Checked("provider", OK, f"{claude.provider} at {masked(settings.anthropic_base_url or 'its own address')}")
    models = sorted(set(claude.model_of.values()))
    yield _said("prices", lambda: f"as of {published_at()}: {', '.join(priced(models, claude.prices))}")
    caps = claude.caps
    yield Checked(
        "caps", OK, f"${caps.call_usd} a call, ${caps.repository_usd} a repository, ${caps.night_usd} a night"
    )
    if live and not missing:
        yield from _live(workspace, models)
    elif live:
        yield Checked("live", FAULT, "there is no key to ask with")


def _live(workspace: Workspace, models: Iterable[str]) -> Iterator[Checked]:
    """What the provider says of its models, and one small call to the one that reads checkpoints."""
    from reflect.triage.claude.sdk import Lost, SdkWire, Unsent

    key = workspace.settings.anthropic_api_key
    claude = workspace.config.claude
    try:
        wire = SdkWire(claude, key.get_secret_value() if key else "", workspace.settings.anthropic_base_url)
        request = {
            "model": claude.model_of["reflect"],
            "max_tokens": _LIVE_TOKENS,
            "messages": [{"role": "user", "content": "Say ok."}],
        }
        answered = wire.send(request, 30.0)
        state = OK if answered.status == 200 else FAULT
        yield Checked("live", state, f"{request['model']} answered with {answered.status} ({answered.request_id})")
        known = {str(told.get("id")): told for told in wire.models()}
    except (Lost, Unsent, ConfigurationError) as error:
        yield Checked("live", FAULT, f"the provider could not be asked ({error})")
        return
    for model in models:
        yield _lifecycle(model, known.get(model))


def _lifecycle(model: str, told: dict[str, object] | None) -> Checked:
    if told is None:
        return Checked(model, NOTE, "the provider does not list it")
    lifecycle = str(told.get("lifecycle") or "unknown")
    until = f", until {told['retires_at']}" if told.get("retires_at") else ""
    return Checked(model, OK if lifecycle == "active" else NOTE, f"{lifecycle}{until}")


def _show(found: Iterable[Checked]) -> None:
    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_column(overflow="fold")
    for one in found:
        table.add_row(one.what, one.state, one.said)
    console().print(table)
