"""The machine's generator: start-up, one request a decision, cycling, reseeding, carry-over, and failures."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.generator import (
    CARRY_OVER_BYTES,
    CYCLE_US_MAX,
    CYCLE_US_MIN,
    REQUESTS_PER_SEED,
    SEED_AGE_US_MAX,
    FailureReason,
    Generator,
    Personalization,
    RngFailureError,
)
from firmware.rng.hmac_drbg import HmacDrbg
from firmware.rng.scaling import RangeError, scale

STOPS = (22, 22, 22)
NAME = Personalization("SIM00001", 1)
SECOND = 1_000_000


@pytest.fixture
def generator(source: Any) -> Generator:
    return Generator(source, NAME, now_us=0)


def idle(generator: Generator, start_us: int, end_us: int) -> int:
    """Let the loop run idle; return the time of the last call."""
    now_us = start_us
    while True:
        due_us = generator.next_deadline_us()
        if due_us is None or due_us > end_us:
            return now_us
        now_us = due_us
        generator.background(now_us)


def test_start_up_reads_what_the_decisions_say(source: Any) -> None:
    """1,024 samples tested and dropped, 48 bytes of seed, 16 of nonce, 48 to go with the carry-over."""
    generator = Generator(source, NAME, now_us=0)
    assert generator.failure is None
    assert source.taken == 1024 + 48 + 16 + 48
    assert (generator.requests, generator.reseeds, generator.cycles) == (1, 1, 0)


def test_numbers_are_those_of_the_mechanism_and_the_scaling_written_out(
    new_source: Callable[[int], Any],
) -> None:
    carry_over = bytes(range(32))
    generator = Generator(new_source(7), NAME, now_us=0, carry_over=carry_over)
    source = new_source(7)
    source.read(1024)
    drbg = CtrDrbg()
    seed, nonce, fresh = source.read(48), source.read(16), source.read(48)
    drbg.instantiate(seed, nonce, NAME.encode())
    drbg.reseed(fresh, carry_over)
    (wait_us,) = scale(drbg.generate, (800_001,))
    assert generator.next_deadline_us() == 200_000 + wait_us
    assert generator.draw(STOPS) == scale(drbg.generate, STOPS)
    assert generator.draw((10_000,) * 20) == scale(drbg.generate, (10_000,) * 20)


@pytest.mark.parametrize("mechanism", [CtrDrbg, HmacDrbg])
def test_either_mechanism_serves(source: Any, mechanism: Any) -> None:
    generator = Generator(source, NAME, now_us=0, mechanism=mechanism)
    assert all(0 <= value < 22 for _ in range(100) for value in generator.draw(STOPS))


def test_a_decision_is_one_request_whatever_its_size(generator: Generator) -> None:
    for decision in (
        lambda: generator.draw((2,)),
        lambda: generator.draw((64,) * 500),
        lambda: generator.draw_without_replacement(80, 20),
    ):
        before = generator.requests
        decision()
        assert generator.requests == before + 1


def test_drawing_without_replacement_gives_different_numbers(generator: Generator) -> None:
    for _ in range(200):
        drawn = generator.draw_without_replacement(52, 5)
        assert len(set(drawn)) == 5
        assert all(0 <= number < 52 for number in drawn)
    assert sorted(generator.draw_without_replacement(52, 52)) == list(range(52))


def test_bad_ranges_are_refused_and_nothing_is_requested(generator: Generator) -> None:
    before = generator.requests
    for call in (
        lambda: generator.draw(()),
        lambda: generator.draw((0,)),
        lambda: generator.draw((2**64 + 1,)),
        lambda: generator.draw_without_replacement(5, 6),
    ):
        with pytest.raises(RangeError):
            call()
    assert generator.requests == before
    assert generator.failure is None


@pytest.mark.parametrize("size", [0, 65_537])
def test_raw_output_has_the_limits_of_one_request(generator: Generator, size: int) -> None:
    with pytest.raises(ValueError, match="in one request"):
        generator.raw(size)
    assert len(generator.raw(65_536)) == 65_536


def test_personalizations_that_differ_anywhere_give_different_numbers(
    new_source: Callable[[int], Any],
) -> None:
    names = [
        Personalization("SIM00001", 1),
        Personalization("SIM00002", 1),
        Personalization("SIM00001", 2),
        Personalization("SIM00001", 1, "2"),
        Personalization("SIM0000", 1, "1"),
        Personalization("", 1, "SIM00001"),
    ]
    assert len({name.encode() for name in names}) == len(names)
    assert len({Generator(new_source(1), name, now_us=0).draw((1 << 32,) * 4) for name in names}) == len(
        names
    )


# Cycling between games


@pytest.mark.law("NJ-28G-b4")
def test_two_games_five_seconds_of_idle_apart_draw_differently_from_the_same_state(
    new_generator: Callable[..., Generator],
) -> None:
    """The same saved state, made twice: one machine plays at once, the other idles for five seconds first."""
    for seed in range(50):
        at_once, later = new_generator(seed), new_generator(seed)
        idle(later, 0, 5 * SECOND)
        assert 5 <= later.cycles <= 25
        assert at_once.cycles == 0
        assert at_once.draw((1 << 32,) * 3) != later.draw((1 << 32,) * 3)
        before = later.cycles
        idle(later, 5 * SECOND, 10 * SECOND)
        assert later.cycles > before


def test_cycles_come_at_random_moments_between_a_fifth_and_a_whole_second(generator: Generator) -> None:
    moments = []
    while len(moments) < 500:
        due_us = generator.next_deadline_us()
        assert due_us is not None
        generator.background(due_us)
        moments.append(due_us)
    waits = [later - earlier for earlier, later in pairwise(moments)]
    assert all(CYCLE_US_MIN <= wait <= CYCLE_US_MAX for wait in waits)
    assert len(set(waits)) > 490
    assert 565_000 < sum(waits) / len(waits) < 635_000
    assert generator.cycles == 500


def test_nothing_happens_before_the_deadline_and_one_cycle_after_a_long_pause(generator: Generator) -> None:
    due_us = generator.next_deadline_us()
    assert due_us is not None
    generator.background(due_us - 1)
    assert (generator.cycles, generator.next_deadline_us()) == (0, due_us)
    generator.background(due_us + 60 * SECOND)
    assert generator.cycles == 1
    after_us = generator.next_deadline_us()
    assert after_us is not None
    assert due_us + 60 * SECOND + CYCLE_US_MIN <= after_us <= due_us + 60 * SECOND + CYCLE_US_MAX


def test_the_moment_of_a_press_changes_what_comes(new_generator: Callable[..., Generator]) -> None:
    drawn = set()
    for moment_us in (None, 1, 2, SECOND, -5):
        generator = new_generator(3)
        if moment_us is not None:
            generator.stir(moment_us)
        drawn.add(generator.draw((1 << 32,) * 3))
    assert len(drawn) == 5


def test_the_same_seed_and_the_same_moments_give_the_same_numbers(
    new_generator: Callable[..., Generator],
) -> None:
    def life(generator: Generator) -> list[tuple[int, ...]]:
        now_us = idle(generator, 0, 3 * SECOND)
        drawn = [generator.draw(STOPS)]
        generator.stir(now_us + 5)
        drawn.append(generator.draw(STOPS))
        generator.reseed(now_us + 7)
        return [*drawn, generator.draw_without_replacement(52, 5), tuple(generator.carry_over())]

    assert life(new_generator(9)) == life(new_generator(9))
    assert life(new_generator(9)) != life(new_generator(10))


# Reseeding


def test_reseeds_after_so_many_requests(source: Any, generator: Generator) -> None:
    taken, requests = source.taken, generator.requests
    for _ in range(REQUESTS_PER_SEED - requests):
        generator.draw((2,))
    assert (source.taken, generator.reseeds) == (taken, 1)
    generator.draw((2,))
    assert (source.taken, generator.reseeds) == (taken + 48, 2)
    assert generator.requests == REQUESTS_PER_SEED + 1


def test_reseeds_every_quarter_of_an_hour(generator: Generator) -> None:
    idle(generator, 0, SEED_AGE_US_MAX - 1)
    assert generator.reseeds == 1
    idle(generator, SEED_AGE_US_MAX - 1, SEED_AGE_US_MAX + SECOND)
    assert generator.reseeds == 2
    idle(generator, SEED_AGE_US_MAX, 4 * SEED_AGE_US_MAX + 5 * SECOND)
    assert generator.reseeds == 5


def test_a_reseed_on_request_starts_the_quarter_anew_and_changes_the_numbers(
    new_generator: Callable[..., Generator],
) -> None:
    with_door, without = new_generator(4), new_generator(4)
    with_door.reseed(600 * SECOND)
    assert with_door.reseeds == 2
    assert with_door.draw((1 << 32,) * 3) != without.draw((1 << 32,) * 3)
    idle(with_door, 600 * SECOND, 600 * SECOND + SEED_AGE_US_MAX - 1)
    assert with_door.reseeds == 2


def test_self_test_on_demand_repeats_the_start_up(source: Any, generator: Generator) -> None:
    taken = source.taken
    generator.self_test(SECOND)
    assert generator.failure is None
    assert source.taken == taken + 1024 + 48
    assert generator.reseeds == 2


# Carry-over


def test_carry_over_enters_the_next_start(new_source: Callable[[int], Any]) -> None:
    """Even if the noise source repeated itself, the next start would not."""
    first = Generator(new_source(1), NAME, now_us=0)
    carried = first.carry_over()
    assert len(carried) == CARRY_OVER_BYTES
    second = Generator(new_source(1), NAME, now_us=0, carry_over=carried)
    again = Generator(new_source(1), NAME, now_us=0)
    assert second.draw((1 << 32,) * 4) != again.draw((1 << 32,) * 4)


def test_carry_over_tells_neither_state_nor_outcomes(new_generator: Callable[..., Generator]) -> None:
    """It is no part of the state before or after, nor of any output that is or was ever drawn."""
    generator, twin = new_generator(5), new_generator(5)
    before = bytes(generator._drbg._work)  # type: ignore[attr-defined]
    carried = generator.carry_over()
    after = bytes(generator._drbg._work)  # type: ignore[attr-defined]
    output = twin.raw(CARRY_OVER_BYTES)  # what the carry-over was made of
    assert carried not in (before[-48:-16], after[-48:-16], output)
    for piece in (carried[:16], carried[16:]):
        assert piece not in before + after + output
    assert generator.raw(32) == twin.raw(32)  # the state moved on past the hidden output: it is never drawn
    assert len({generator.carry_over() for _ in range(100)}) == 100


def test_output_does_not_tell_the_state_before_it(generator: Generator) -> None:
    """Backtracking: with the state after a draw in hand, the key before it is gone (SP 800-90A 8.8)."""
    states = [bytes(generator._drbg._work[-48:])]  # type: ignore[attr-defined]
    for _ in range(50):
        generator.draw(STOPS)
        states.append(bytes(generator._drbg._work[-48:]))  # type: ignore[attr-defined]
    assert len({state[:32] for state in states}) == 51
    assert len({state[32:] for state in states}) == 51


@pytest.mark.parametrize("size", [1, 31, 33])
def test_a_carry_over_of_the_wrong_size_is_our_own_mistake(source: Any, size: int) -> None:
    with pytest.raises(ValueError, match="carry-over"):
        Generator(source, NAME, now_us=0, carry_over=bytes(size))


# Failures


def assert_out_of_service(generator: Generator, reason: FailureReason) -> None:
    assert generator.failure is not None
    assert generator.failure.reason is reason
    assert generator.next_deadline_us() is None
    for call in (
        lambda: generator.draw(STOPS),
        lambda: generator.draw_without_replacement(5, 2),
        lambda: generator.raw(16),
        generator.carry_over,
    ):
        with pytest.raises(RngFailureError) as error:
            call()
        assert error.value.failure is generator.failure
    before = (generator.requests, generator.reseeds, generator.cycles)
    generator.background(10**12)
    generator.stir(10**12)
    generator.reseed(10**12)
    generator.self_test(10**12)
    generator.shut_down()
    assert (generator.requests, generator.reseeds, generator.cycles) == before
    assert generator.failure.reason is reason
    assert not any(generator._drbg._work)  # type: ignore[attr-defined]


def test_no_numbers_when_the_source_is_stuck_at_start_up(source: Any) -> None:
    source.stuck_at = 0
    assert_out_of_service(Generator(source, NAME, now_us=0), FailureReason.ENTROPY_UNHEALTHY)


def test_no_numbers_when_there_is_no_source(source: Any) -> None:
    source.is_gone = True
    assert_out_of_service(Generator(source, NAME, now_us=0), FailureReason.ENTROPY_UNAVAILABLE)


def test_no_numbers_when_a_known_answer_is_wrong(source: Any) -> None:
    class WrongBit(CtrDrbg):
        def generate(self, size: int, additional: bytes = b"") -> bytes:
            return bytes(byte ^ 1 for byte in super().generate(size, additional))

    generator = Generator(source, NAME, now_us=0, mechanism=WrongBit)
    assert_out_of_service(generator, FailureReason.KNOWN_ANSWER)
    assert source.taken == 0


@pytest.mark.parametrize("breakage", ["stuck", "gone"])
@pytest.mark.parametrize("way", ["request", "count", "age", "self_test"])
def test_a_source_that_fails_later_takes_the_generator_out_of_service(
    source: Any, generator: Generator, breakage: str, way: str
) -> None:
    generator.draw(STOPS)
    if breakage == "stuck":
        source.stuck_at = 255
    else:
        source.is_gone = True
    generator.draw(STOPS)  # the seed in use is still good
    if way == "request":
        generator.reseed(SECOND)
    elif way == "age":
        generator.background(SEED_AGE_US_MAX + SECOND)
    elif way == "self_test":
        generator.self_test(SECOND)
    else:
        with pytest.raises(RngFailureError):
            for _ in range(REQUESTS_PER_SEED + 1):
                generator.draw((2,))
    stuck, gone = FailureReason.ENTROPY_UNHEALTHY, FailureReason.ENTROPY_UNAVAILABLE
    assert_out_of_service(generator, stuck if breakage == "stuck" else gone)


def test_stir_and_background_flag_a_failure_and_do_not_raise(source: Any, generator: Generator) -> None:
    for _ in range(REQUESTS_PER_SEED - generator.requests):
        generator.draw((2,))
    source.is_gone = True
    generator.stir(1)
    assert_out_of_service(generator, FailureReason.ENTROPY_UNAVAILABLE)


def test_a_mechanism_that_breaks_in_service_is_flagged(generator: Generator) -> None:
    generator._drbg.uninstantiate()
    with pytest.raises(RngFailureError):
        generator.draw(STOPS)
    assert_out_of_service(generator, FailureReason.MECHANISM)


def test_shut_down_wipes(generator: Generator) -> None:
    generator.draw(STOPS)
    generator.shut_down()
    assert_out_of_service(generator, FailureReason.SHUT_DOWN)


def test_what_is_shown_of_a_generator_tells_nothing_of_its_state(generator: Generator) -> None:
    state = bytes(generator._drbg._work[-48:])  # type: ignore[attr-defined]
    shown = repr(generator) + str(generator) + repr(generator._drbg)
    assert all(state[i : i + 4].hex() not in shown for i in range(44))
    with pytest.raises(TypeError):
        pickle.dumps(generator)  # a snapshot cannot carry it off by accident (decisions.md, Generator)
