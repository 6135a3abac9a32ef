"""The table of ``make bench`` judges as it says: a limit binds the ratio where there is a floor."""

from __future__ import annotations

import pytest

from tests.bench.__main__ import main, table
from tests.bench.rows import Row


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (Row("slow but near its floor", 30.0, "ms", floor=10.0, limit=3.0), True),
        (Row("too far from its floor", 31.0, "ms", floor=10.0, limit=3.0), False),
        (Row("without a floor", 5.1, "ms", limit=5.0), False),
        (Row("enough", 2000.0, "/s", limit=2000.0, sense="at_least"), True),
        (Row("too little", 49.0, "/s", floor=100.0, limit=0.5, sense="at_least"), False),
        (Row("reported only", 99.0, "ms"), True),
        (Row("a floor of nothing", 1.0, "ms", floor=0.0, limit=3.0), False),
    ],
)
def test_a_limit_binds_the_ratio_or_the_figure(row: Row, holds: bool) -> None:
    assert row.holds is holds
    assert row.as_json()["holds"] is holds
    assert ("MISSED" in table([row])) is not holds


def test_columns_are_aligned() -> None:
    lines = table([Row("a", 1.0, "ms"), Row("a longer name", 123456.0, "/s", 2.0, 3.0)]).splitlines()
    assert len({len(line) for line in lines}) == 1


def test_an_unknown_benchmark_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 2
    assert "no benchmark nothing" in capsys.readouterr().err
