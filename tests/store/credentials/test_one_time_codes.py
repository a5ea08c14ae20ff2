"""One-time codes: guessing ends the code that is guessed at, and keeps nobody else out."""

import pytest

from agentcore.store.credentials.one_time_codes import (
    SELECTOR_CHARS,
    WRONG_SECRETS,
    OneTimeCodes,
    long_code,
    short_code,
)

pytestmark = pytest.mark.spec("K11", "S1")


@pytest.fixture(params=[long_code, short_code], ids=["long", "short"])
def codes(request: pytest.FixtureRequest) -> OneTimeCodes:
    return OneTimeCodes(lambda: 0.0, request.param)


def wrong(code: str) -> str:
    """A code of the same selector with another secret."""
    return code[:-1] + ("2" if code[-1] != "2" else "3")


def test_five_wrong_secrets_void_the_code_and_no_other(codes: OneTimeCodes) -> None:
    one, other = codes.create(), codes.create()
    assert not any(codes.redeem(wrong(one)) for _ in range(WRONG_SECRETS))
    assert not codes.redeem(one)
    assert codes.redeem(other)


def test_fewer_wrong_secrets_leave_the_code_valid(codes: OneTimeCodes) -> None:
    code = codes.create()
    assert not any(codes.redeem(wrong(code)) for _ in range(WRONG_SECRETS - 1))
    assert codes.redeem(code)


def test_codes_that_nobody_made_lock_nothing_and_leave_nothing(codes: OneTimeCodes) -> None:
    code = codes.create()
    others = (f"{number:05}" for number in range(20_000))
    assert not any(codes.redeem(other + code[SELECTOR_CHARS:]) for other in others if other != code[:SELECTOR_CHARS])
    assert not codes.redeem("gu\ud800ess")
    assert not codes.redeem("")
    assert len(codes._codes) == 1
    assert codes.redeem(code)


def test_selectors_of_valid_codes_differ() -> None:
    made = iter(["AAAAA-11111", "AAAAA-22222", "BBBBB-33333"])
    codes = OneTimeCodes(lambda: 0.0, lambda: next(made))
    assert [codes.create(), codes.create()] == ["AAAAA-11111", "BBBBB-33333"]
