"""The verdict of a comparison of two commits: only what cannot be chance is called worse."""

import random

import pytest

from benchmarks.compare import BOUND, compared, main, table


def test_difference_beyond_the_bound_is_worse_however_the_machine_swings():
    swings = random.Random(1)
    base = [10 * swings.uniform(1, 3) for _ in range(30)]
    row = compared("a call, ms", base, [cost * BOUND * swings.uniform(1.01, 1.1) for cost in base])
    assert row.is_worse
    assert row.low <= row.ratio <= row.high
    assert "**worse**" in table([row])


@pytest.mark.parametrize("seed", range(20))
def test_same_costs_with_noise_are_not_worse(seed):
    noise = random.Random(seed)
    row = compared("a call, ms", *([10 * noise.lognormvariate(0, 0.1) for _ in range(30)] for _ in range(2)))
    assert not row.is_worse


def test_interval_of_thirty_pairs_leaves_out_nine_at_each_end():
    """As the table of the sign test says: the 10th and the 21st of 30 enclose the median in 95.7 % of all cases."""
    row = compared("a call, ms", [1.0] * 30, [float(number) for number in range(1, 31)])
    assert (row.low, row.high) == (10, 21)


@pytest.mark.usefixtures("git")
def test_unknown_name_and_unknown_commit_are_told(capsys):
    with pytest.raises(SystemExit):
        main(["HEAD", "nothing"])
    assert "invalid choice: 'nothing'" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="there is no commit 'none-such' here"):
        main(["none-such"])
