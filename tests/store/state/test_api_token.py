"""The API token: where it comes from and what is accepted."""

from pathlib import Path

import pytest

from agentcore.store.state.api_token import ensure_token, read_token
from agentcore.store.state.state_errors import StateDirError


@pytest.mark.spec("S1")
def test_token_is_made_once_with_256_bits_and_mode_0600(tmp_path: Path) -> None:
    token = ensure_token(tmp_path, {})
    assert len(token.get_secret_value()) == 43
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert ensure_token(tmp_path, {}) == token
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


@pytest.mark.spec("S1")
def test_token_of_the_environment_wins_and_is_not_written(tmp_path: Path) -> None:
    assert ensure_token(tmp_path, {"AGENTCORE_TOKEN": "chosen-by-me"}).get_secret_value() == "chosen-by-me"
    assert not (tmp_path / "token").exists()


def test_token_does_not_show_in_its_representation(tmp_path: Path) -> None:
    token = ensure_token(tmp_path, {})
    assert token.get_secret_value() not in repr(token) + str(token)


def test_client_finds_no_token_where_there_is_none(tmp_path: Path) -> None:
    assert read_token(tmp_path, {}) is None


def test_token_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    (tmp_path / "token").chmod(0o644)
    assert read_token(tmp_path, {}).get_secret_value() == "abc"
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "two words", "schlüssel", "x" * 5000])
def test_file_that_holds_no_token_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "token").write_text(text)
    with pytest.raises(StateDirError, match="token"):
        read_token(tmp_path, {})


def test_token_that_no_header_can_carry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StateDirError, match="AGENTCORE_TOKEN"):
        ensure_token(tmp_path, {"AGENTCORE_TOKEN": "a b\n"})


def test_link_in_place_of_the_token_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("abc")
    (tmp_path / "token").symlink_to("elsewhere")
    with pytest.raises(StateDirError, match="cannot be read"):
        read_token(tmp_path, {})
