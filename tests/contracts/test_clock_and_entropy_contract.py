"""What every Clock and every Entropy promises, run on each back end."""

from __future__ import annotations

import pytest

from hal.backends.clocks import ManualClock, SystemClock
from hal.backends.seeded_entropy import SeededEntropy
from hal.backends.system_entropy import SystemEntropy
from hal.ports.clock import Clock
from hal.ports.entropy import Entropy

YEAR_2020_US = 1_577_836_800_000_000
YEAR_2200_US = 7_258_118_400_000_000


@pytest.fixture(params=[SystemClock, ManualClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    made: Clock = request.param()
    return made


@pytest.fixture(params=[SystemEntropy, lambda: SeededEntropy(7)], ids=["system", "seeded"])
def entropy(request: pytest.FixtureRequest) -> Entropy:
    made: Entropy = request.param()
    return made


class TestClock:
    def test_times_are_integers_of_microseconds(self, clock: Clock) -> None:
        assert type(clock.now_us()) is int
        assert type(clock.wall_us()) is int
        assert YEAR_2020_US < clock.wall_us() < YEAR_2200_US

    def test_monotonic_time_never_goes_back(self, clock: Clock) -> None:
        times = [clock.now_us() for _ in range(1000)]
        assert times == sorted(times)


class TestEntropy:
    @pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 48, 257, 5000])
    def test_a_read_gives_exactly_what_was_asked_for(self, entropy: Entropy, size: int) -> None:
        data = entropy.read(size)
        assert type(data) is bytes
        assert len(data) == size

    def test_no_two_reads_are_alike(self, entropy: Entropy) -> None:
        assert len({entropy.read(16) for _ in range(1000)}) == 1000

    def test_every_byte_value_comes(self, entropy: Entropy) -> None:
        assert set(entropy.read(20_000)) == set(range(256))

    def test_a_negative_size_is_refused(self, entropy: Entropy) -> None:
        with pytest.raises(ValueError, match=r"negative|cannot read"):
            entropy.read(-1)
