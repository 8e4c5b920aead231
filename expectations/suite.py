"""Runs a table of rules over rows with Great Expectations, so that every row gets a verdict of its own.

What the library answers is not taken on trust: a suite over no rows passes, a missing column is a failure that names
no row, missing values are skipped, and a shared context mixes frames across threads. Here each of these is an error or
ruled out. The library and pandas take seconds to import and are imported by the first run, not by this module.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from reflect.errors import PlanError

ROW = "row"
"""The column that numbers the rows; the runner adds it."""

_NULLS_ARE_MEANT = "expect_column_values_to_be_null"
_IMPORT = threading.Lock()


@dataclass(frozen=True, slots=True)
class Rule:
    """One expectation of a suite.

    `type` and `kwargs` are Great Expectations' own; `notes` say in one line what is expected and why. `says` is the
    sentence for a row that breaks it, with the row's columns in braces.
    """

    name: str
    type: str
    kwargs: Mapping[str, Any]
    says: str
    notes: str

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.kwargs[key] for key in ("column", "column_A", "column_B") if key in self.kwargs)


def no_fault(name: str, column: str, notes: str) -> Rule:
    """A rule for a computed column that holds None, or in words what is wrong."""
    return Rule(name, _NULLS_ARE_MEANT, {"column": column}, f"{{{column}}}", notes)


@dataclass(frozen=True, slots=True)
class Breach:
    """One row that breaks one rule."""

    row: int
    rule: str
    reason: str


def run_suite(suite: str, rules: Sequence[Rule], rows: Sequence[Mapping[str, object]]) -> tuple[Breach, ...]:
    """Every breach of `rules` by `rows`, by row and then in the order of the rules.

    Raises PlanError where there are no rows, or where a rule was not applied to every one of them: that says nothing
    about the rows, so it is no verdict.
    """
    if not rows:
        raise PlanError(f"the suite {suite!r} was given no rows, and a suite over nothing passes; check for it before.")
    answers = answers_by_rule(suite, rules, _validate(suite, rules, rows))
    breaches = [
        Breach(row, rule.name, rule.says.format_map(rows[row]))
        for rule in rules
        for row in sorted(_broken_rows(suite, rule, answers[rule.name], rows))
    ]
    return tuple(sorted(breaches, key=lambda breach: breach.row))


def _validate(suite: str, rules: Sequence[Rule], rows: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
    gx = library()
    import pandas as pd

    columns = {name: [_storable(row[name]) for row in rows] for name in rows[0]}
    frame = pd.DataFrame({ROW: range(len(rows)), **columns})
    context = gx.get_context(project_config=_throw_away(gx.data_context.types.base), mode="ephemeral")
    asset = context.data_sources.add_pandas("rows").add_dataframe_asset("rows")
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": frame})
    expectations = [
        {"type": rule.type, "kwargs": dict(rule.kwargs), "notes": rule.notes, "meta": {"rule": rule.name}}
        for rule in rules
    ]
    result = batch.validate(
        gx.ExpectationSuite(name=suite, expectations=expectations),
        result_format={"result_format": "COMPLETE", "unexpected_index_column_names": [ROW]},
    )
    return list(result.to_json_dict()["results"])


def _throw_away(base: ModuleType) -> Any:
    """A context that lives in memory: no analytics, no progress bars, no folder for a documentation site."""
    return base.DataContextConfig(
        store_backend_defaults=base.InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars=base.ProgressBarsConfig(globally=False, metric_calculations=False),
        analytics_enabled=False,
    )


def _storable(value: object) -> object:
    """`value` such that a frame can hold it: lone surrogates, which no file can hold either, are written out."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def library() -> ModuleType:
    """Great Expectations, imported once; its own use of deprecated modules is no news to anyone here."""
    with _IMPORT, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        os.environ["GX_ANALYTICS_ENABLED"] = "false"
        import great_expectations
        import great_expectations.data_context.types.base
    return great_expectations


def answers_by_rule(
    suite: str, rules: Sequence[Rule], results: Sequence[Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Each rule's one result. Raises PlanError for fewer or other results than rules: that is no verdict."""
    answers = {str(result["expectation_config"]["meta"].get("rule")): result for result in results}
    missing = [rule.name for rule in rules if rule.name not in answers]
    if missing or len(results) != len(rules):
        what = f"none for {', '.join(missing)}" if missing else "one of them twice"
        raise PlanError(
            f"the suite {suite!r} gave {len(results)} results for {len(rules)} expectations, {what}; nothing passed."
        )
    return answers


def _broken_rows(
    suite: str, rule: Rule, answer: Mapping[str, Any], rows: Sequence[Mapping[str, object]]
) -> frozenset[int]:
    if message := _exception(answer.get("exception_info")):
        raise PlanError(f"the expectation {rule.name} of the suite {suite!r} could not be applied ({message}).")
    result = answer["result"]
    listed = result.get("unexpected_index_list")
    if result.get("element_count") != len(rows) or listed is None or bool(listed) == answer["success"]:
        raise PlanError(
            f"the expectation {rule.name} of the suite {suite!r} gave no verdict on each of the {len(rows)} rows."
        )
    broken = {int(entry[ROW]) for entry in listed}
    if rule.type != _NULLS_ARE_MEANT:
        broken |= {number for number, row in enumerate(rows) if any(row[column] is None for column in rule.columns)}
    return frozenset(broken)


def _exception(info: Mapping[str, Any] | None) -> str | None:
    """The first line of what was raised; the library keys it by metric when a column is missing, else gives it flat."""
    entries = [info, *info.values()] if info else []
    for entry in entries:
        if isinstance(entry, Mapping) and entry.get("raised_exception"):
            return str(entry.get("exception_message")).strip().splitlines()[0]
    return None
