"""Whatever a provider answers, of any shape: an answer that fits, or a fault with a name; never anything else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.obedient_model import answer
from examples.sessions import GitRepository
from reflect.configuration import ClaudeConfig, Format
from reflect.errors import EngineError
from reflect.folding import fold
from reflect.model import EvidenceMode, Operation, PageSummary, Taint
from reflect.pipeline.batches import BatchesInLedger
from reflect.pipeline.bill import Bill
from reflect.settings import Settings
from reflect.triage.claude.asking import Messages
from reflect.triage.claude.batches import Batched
from reflect.triage.claude.breaker import Breaker
from reflect.triage.claude.engine import ClaudeEngine
from reflect.triage.claude.faults import InBatch
from reflect.triage.claude.messages import Reply
from reflect.triage.claude.money import CallsInMemory
from reflect.triage.claude.prices import priced
from reflect.triage.claude.sdk import Answered, Lost
from reflect.workspace import Workspace
from tests.triage.builders import page as wiki_page
from tests.triage.builders import session
from tests.triage.claude.api import ASK, Waits
from tests.triage.claude.provider import Provider, action, engine, finding

CLAUDE = ClaudeConfig()
PRICES = priced(CLAUDE.model_of.values(), {})

texts = st.text(max_size=20)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
counts = st.none() | st.integers(min_value=-1, max_value=10**30) | anything
usages = anything | st.fixed_dictionaries(
    {"input_tokens": counts, "output_tokens": counts}, optional={"cache_read_input_tokens": counts}
)
stops = st.sampled_from(["end_turn", "refusal", "max_tokens", "tool_use", "pause_turn"]) | anything
written = texts | anything.map(json.dumps)
blocks = st.lists(
    st.fixed_dictionaries({"type": st.just("text") | texts, "text": written | anything}) | anything, max_size=3
)
messages = st.fixed_dictionaries(
    {"type": st.just("message") | anything, "content": blocks | anything, "stop_reason": stops, "usage": usages},
    optional={"id": anything},
)
bodies = st.binary(max_size=60) | (messages | anything).map(lambda data: json.dumps(data).encode())
headers = st.dictionaries(
    st.sampled_from(["request-id", "retry-after", "retry-after-ms", "x-should-retry", "date"]), texts
)
answers = st.builds(
    Answered, st.sampled_from([200, 200, 200, 201, 204, 301, 400, 401, 409, 429, 500, 529]), bodies, headers
)


@dataclass
class Saying:
    """A wire over which the same is heard, whatever is asked."""

    answered: Answered | None

    def send(self, request: Mapping[str, Any], timeout_s: float) -> Answered:
        if self.answered is None:
            raise Lost("nothing came")
        return self.answered

    def send_batch(self, requests: Sequence[Mapping[str, Any]], timeout_s: float) -> Answered:
        return self.send({}, timeout_s)

    def fetch(self, path: str, timeout_s: float) -> Answered:
        return self.send({}, timeout_s)


@settings(max_examples=300)
@given(answers | st.none())
def test_a_question_ends_in_an_answer_or_a_fault_and_is_accounted_for(answered: Answered | None) -> None:
    calls = CallsInMemory(CLAUDE.caps)
    asking = Messages(lambda: Saying(answered), CLAUDE, PRICES, calls, Breaker(), Waits().clock)
    try:
        reply = asking.ask(ASK)
    except EngineError as fault:
        assert str(fault)
    else:
        assert isinstance(reply, Reply) and isinstance(reply.data, dict) and reply.stop_reason == "end_turn"
    assert calls.ended and all(ended.usd >= 0 and ended.usage.output >= 0 for _, ended in calls.ended)


@st.composite
def bent(draw: st.DrawFn, good: Any) -> Any:
    """`good` with up to three of its parts replaced, left out or said twice."""
    data = json.loads(json.dumps(good))
    for _ in range(draw(st.integers(0, 3))):
        places = list(_places(data))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["replace", "replace", "leave out", "twice"])):
            case "replace":
                holder[key] = draw(words | anything)
            case "leave out":
                del holder[key]
            case _ if isinstance(holder, list):
                holder.append(holder[key])
    return data


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield data, key
        yield from _places(data[key])


def good(ask: Callable[[ClaudeEngine], object]) -> Any:
    """What an obedient model answers to the question that `ask` puts."""
    provider = Provider()
    ask(engine(provider))
    return answer(provider.asked[0].schema, provider.asked[0].content)


RULE = "never use floats for money, only in reports."
CACHE = finding("The build fails because of the cache.")
LOCK = finding("The worker hangs because of a stale lock.", position=3)
PAGE = wiki_page("gotchas/build.md", "The build", "How the build fails.", status="active")
quotes = st.sampled_from([RULE, "never use floats", CACHE.quote, LOCK.quote, ""]) | texts
words = quotes | st.sampled_from(
    ["f1", "f2", "e1", "e3", "create", "update", "no_changes", PAGE.path, "../x.md", "/etc"]
)
SAID = session({"prompt": "add a cart"}, {"reply": "Done with floats."}, {"steer": RULE}, taint=Taint.CLEAN)
REFLECTED = good(lambda made: made.reflect(SAID, EvidenceMode.FULL))
PLANNED = good(lambda made: made.plan((CACHE, LOCK), (PAGE,), Format(), 9))
WRITTEN = good(lambda made: made.write(action(CACHE, LOCK), None))


def test_the_answers_that_are_bent_are_good_ones() -> None:
    assert REFLECTED["findings"] and PLANNED["actions"] and WRITTEN["bullets"]
    assert engine(Provider({"write": [WRITTEN]})).write(action(CACHE, LOCK), None).sections


@settings(max_examples=150, deadline=None)
@given(bent(REFLECTED), bent(REFLECTED))
def test_a_finding_is_of_the_evidence_whatever_was_answered(first: Any, second: Any) -> None:
    try:
        found = engine(Provider({"reflect": [first, second]})).reflect(SAID, EvidenceMode.FULL)
    except EngineError:
        return
    known = " ".join(fold(turn.text) for turn in SAID.turns)
    assert all(each.quote in known or each.score == 0 for each in found)


@settings(max_examples=150, deadline=None)
@given(bent(PLANNED), bent(PLANNED), st.booleans())
def test_every_finding_has_one_end_whatever_was_planned(first: Any, second: Any, standing: bool) -> None:
    wiki: tuple[PageSummary, ...] = (PAGE,) if standing else ()
    plan = engine(Provider({"plan": [first, second]})).plan((CACHE, LOCK), wiki, Format(), 9)
    ended = [each.id for one in plan.actions for each in one.findings] + [fate.finding.id for fate in plan.fates]
    assert sorted(ended) == sorted([CACHE.id, LOCK.id])
    paths = [one.path for one in plan.actions]
    assert len(set(paths)) == len(paths) and not any(".." in path or path.startswith("/") for path in paths)
    assert all(one.operation is Operation.CREATE or one.path == PAGE.path for one in plan.actions)


@settings(max_examples=150, deadline=None)
@given(bent(WRITTEN), bent(WRITTEN), st.booleans())
def test_a_page_is_whole_and_of_its_evidence_or_is_not_written(first: Any, second: Any, standing: bool) -> None:
    update = action(CACHE, LOCK, operation=Operation.UPDATE if standing else Operation.CREATE)
    try:
        content = engine(Provider({"write": [first, second]})).write(update, PAGE if standing else None)
    except EngineError:
        return
    told = [passage for section in content.sections for passage in section.passages]
    assert {name for passage in told for name in passage.evidence_ids} == {CACHE.evidence_id}
    quoted = {passage.text for passage in told if passage.quoted}
    assert quoted == {CACHE.quote, LOCK.quote}, "each finding stands on the page in its own words"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = GitRepository.create(tmp_path_factory.mktemp("any") / "shop")
    made.commit("feat: begin", {"a.txt": "a"})
    return Workspace.open(made.path, Settings(state_dir=made.path.parent / "state"))


def _lines(results: Iterable[Any]) -> bytes:
    return b"\n".join(json.dumps(result).encode() for result in results)


kinds = st.sampled_from(["succeeded", "errored", "expired", "canceled", "new"]) | anything
results = st.fixed_dictionaries({"type": kinds, "message": messages | anything}) | anything


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_batch_brings_answers_or_nothing_whatever_its_lines_are(workspace: Workspace, data: st.DataObject) -> None:
    claude = ClaudeConfig(mode="batch")
    bill = Bill(workspace)
    saying = Saying(Answered(200, b'{"id": "msgbatch_1"}'))
    live = Messages(lambda: saying, claude, PRICES, bill, Breaker(), Waits().clock)
    batched = Batched(live, BatchesInLedger(bill), lambda text: text)
    with pytest.raises((InBatch, EngineError)):
        batched.ask(ASK)
    batched.send()
    waiting = [name for batch in batched.log.unended() for name in batched.log.waiting(batch)]
    saying.answered = data.draw(answers | st.none())
    batched.collect()
    named = st.sampled_from(waiting or ["x"]) | anything
    lines = data.draw(st.lists(st.fixed_dictionaries({"custom_id": named, "result": results}) | anything, max_size=3))
    said = Answered(200, data.draw(st.sampled_from([_lines(lines), _lines(lines)[:-3]])))
    for batch in batched.log.unended():
        assert isinstance(batched._read(batch, said), str)
    try:
        assert isinstance(batched.ask(ASK).data, dict)
    except EngineError as fault:
        assert str(fault)
    batched.send()
