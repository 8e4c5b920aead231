"""The readers stand what `make fuzz` gives them, and the fuzzer would notice if they did not."""

from __future__ import annotations

import pytest

from benchmarks import fuzz
from reflect.errors import PageError


@pytest.mark.parametrize("name", fuzz.READERS)
def test_a_short_round_finds_nothing(name: str) -> None:
    fuzz.fuzz(name, number=20261201, inputs=60)


def test_a_reader_that_breaks_is_noticed_and_one_that_refuses_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(content: bytes) -> None:
        raise PageError("no page")

    def break_down(content: bytes) -> None:
        if b"status" in content:
            raise KeyError("status")

    monkeypatch.setitem(fuzz.READERS, "pages", refuse)
    fuzz.fuzz("pages", number=1, inputs=20)
    monkeypatch.setitem(fuzz.READERS, "pages", break_down)
    with pytest.raises(KeyError):
        fuzz.fuzz("pages", number=1, inputs=60)


def test_the_inputs_are_damaged_and_not_only_repeated() -> None:
    seen: set[bytes] = set()

    def keep(content: bytes) -> None:
        seen.add(content)

    before = fuzz.READERS["pages"]
    fuzz.READERS["pages"] = keep
    try:
        fuzz.fuzz("pages", number=1, inputs=80)
    finally:
        fuzz.READERS["pages"] = before
    assert len(seen - set(fuzz.grown_from("pages"))) > 20


def test_minutes_are_kept_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--minutes", "0", "--seed", "5"]) == 0
    assert "seeds 5 to 4" in capsys.readouterr().out
