"""From options and media to the rules of a machine; and each refusal, in one sentence that says what would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from firmware.control_program.build import check_identity, library_names, load_profile, plan
from firmware.control_program.cabinet import Cabinet, SasLine
from firmware.control_program.errors import ConfigError
from firmware.control_program.options import MachineOptions
from firmware.control_program.state_blocks import Identity
from firmware.core import meters
from firmware.core.state import new_machine
from hal.backends.clocks import ManualClock
from hal.backends.memory_links import byte_link_pair, wakeup_link_pair
from hal.backends.memory_media import MemoryMedia
from hal.backends.memory_nvram import MemoryNvram
from hal.backends.memory_pins import MemoryInputPins, MemoryOutputPins
from hal.backends.seeded_entropy import SeededEntropy
from tests.firmware.games.sheets import ROOT, declared, sheet_returning, text_of

GAME = "games/library/lantern_night/par.toml"
FILES = {
    str(path.relative_to(ROOT / "firmware")): path.read_bytes()
    for pattern in ("profiles/*.toml", "games/library/*/par.toml")
    for path in (ROOT / "firmware").glob(pattern)
}


def cabinet(
    files: dict[str, bytes] | None = None, *, acceptor: bool = True, lines: int = 1, inputs: str = ""
) -> Cabinet:
    return Cabinet(
        nvram=MemoryNvram(),
        media=MemoryMedia(FILES if files is None else files),
        clock=ManualClock(),
        entropy=SeededEntropy(1),
        devices={"bill_acceptor": byte_link_pair()[0]} if acceptor else {},
        inputs=MemoryInputPins(inputs.split()),
        outputs=MemoryOutputPins(()),
        sas_lines=tuple(SasLine(wakeup_link_pair()[0], "memory:sas") for _ in range(lines)),
    )


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(ConfigError) as caught:
        make()
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def test_the_rules_are_what_is_there() -> None:
    made = plan(cabinet(lines=2, inputs="button_spin door_main door_logic"), MachineOptions())
    assert made.rules.parts == {"bill_acceptor"}
    assert made.rules.doors == ("main", "logic")
    assert made.rules.line_count == 2
    assert [game.rules.name for game in made.rules.games] == ["lantern_night"]
    assert plan(cabinet(acceptor=False), MachineOptions()).rules.parts == frozenset()


@pytest.mark.parametrize("profile", ["nj", "pa", "md"])
@pytest.mark.parametrize("denomination", [1, 5, 25, 100])
def test_the_first_settings_come_from_profile_and_options(profile: str, denomination: int) -> None:
    made = plan(cabinet(), MachineOptions(profile=profile, denomination=denomination))
    machine = new_machine(made.rules, made.settings)
    assert machine.denomination == denomination
    assert machine.setting("credit_limit") == made.profile.credit_limit.value
    assert machine.setting("handpay_limit") == made.profile.handpay_limit.value == 119_999
    assert made.identity.games == ("lantern_night",)
    assert (made.identity.profile, made.identity.denomination) == (profile, denomination)


def test_the_games_return_is_the_par_sheets() -> None:
    (game,) = plan(cabinet(), MachineOptions()).rules.games
    assert f"{game.base_hundredths:04}" == game.rules.base_percent
    assert 8300 <= game.base_hundredths <= 10_000


def test_a_profile_or_game_that_is_not_there_is_named_with_those_that_are() -> None:
    sentence = refusal(lambda: plan(cabinet(), MachineOptions(profile="nv")))
    assert "'nv'" in sentence
    assert "md, nj, pa" in sentence
    sentence = refusal(lambda: plan(cabinet(), MachineOptions(games=("lantern_night", "moon"))))
    assert "'moon'" in sentence
    assert "lantern_night" in sentence


def test_a_denomination_the_game_is_not_offered_at_is_refused_with_those_it_is() -> None:
    sentence = refusal(lambda: plan(cabinet(), MachineOptions(denomination=7)))
    assert "7 cents" in sentence
    assert "1, 5, 10, 25, 50, 100" in sentence


def test_a_machine_without_games_or_with_too_many_lines_is_refused() -> None:
    profiles = {name: data for name, data in FILES.items() if name.startswith("profiles/")}
    assert "0 games" in refusal(lambda: plan(cabinet(profiles), MachineOptions()))
    assert "33 games" in refusal(lambda: plan(cabinet(), MachineOptions(games=("lantern_night",) * 33)))
    assert "5 lines" in refusal(lambda: plan(cabinet(lines=5), MachineOptions()))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (GAME, b"format = 1\n"),
        (GAME, b"\xff\xfe"),
        ("profiles/nj.toml", b"name = 3\n"),
        ("profiles/nj.toml", b"\xff"),
    ],
)
def test_a_file_that_makes_no_sense_is_named(name: str, data: bytes) -> None:
    refusal(lambda: plan(cabinet({**FILES, name: data}), MachineOptions()))


@pytest.mark.law("NJ-28A-a", partly="at the start of the machine; the figures are shown with the games")
def test_a_game_below_the_profiles_return_stops_the_start() -> None:
    sheet = declared(sheet_returning("82.99"))
    sentence = refusal(lambda: plan(cabinet({**FILES, GAME: text_of(sheet).encode()}), MachineOptions()))
    assert "83" in sentence


@pytest.mark.law("PA-7-h")
def test_a_required_meter_that_is_absent_needs_a_waiver(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = {key: row for key, row in meters.METERS.items() if key != "coupon_promotion_out"}
    monkeypatch.setattr(meters, "METERS", fewer)
    assert "coupon_promotion_out" in load_profile(cabinet().media, "nj").required_meters.value
    sentence = refusal(lambda: plan(cabinet(), MachineOptions(profile="nj")))
    assert "'coupon_promotion_out'" in sentence
    assert "waiver" in sentence
    text = FILES["profiles/nj.toml"].decode()
    head, _, tail = text.partition("[meter_waivers]")
    assert "value = {}" in tail
    waived = (
        head + "[meter_waivers]" + tail.replace("value = {}", 'value = { coupon_promotion_out = "W-1" }', 1)
    )
    made = plan(cabinet({**FILES, "profiles/nj.toml": waived.encode()}), MachineOptions(profile="nj"))
    assert made.profile.meter_waivers.value == {"coupon_promotion_out": "W-1"}


@pytest.mark.parametrize(
    ("declared_meter", "complaint"),
    [
        ('{ house = ["coin_in", "rain"] }', "'rain'"),
        ('{ house = ["coin_in", "games_played"] }', "one unit"),
        ('{ coin_in = ["coin_out", "bill_in"] }', "a name of its own"),
    ],
)
def test_a_composite_meter_of_the_profile_adds_up_meters_of_one_unit(
    declared_meter: str, complaint: str
) -> None:
    head, _, tail = FILES["profiles/nj.toml"].decode().partition("[composite_meters]")
    text = head + "[composite_meters]" + tail.replace("value = {}", f"value = {declared_meter}", 1)
    sentence = refusal(lambda: plan(cabinet({**FILES, "profiles/nj.toml": text.encode()}), MachineOptions()))
    assert complaint in sentence
    good = text.replace(declared_meter, '{ house = ["coin_in", "bill_in"] }')
    made = plan(cabinet({**FILES, "profiles/nj.toml": good.encode()}), MachineOptions())
    assert dict(made.profile.composite_meters.value) == {"house": ("coin_in", "bill_in")}


def test_the_library_is_what_has_a_par_sheet() -> None:
    media = MemoryMedia(
        {"games/library/b/par.toml": b"", "games/library/a/par.toml": b"", "games/library/c/rules.md": b""}
    )
    assert library_names(media) == ("a", "b")


# --- a later start ---

KEPT = Identity("nj", ("lantern_night",), 25, 1, "SIM00001", "602", "enhanced", 0x00AB12)


def test_the_same_options_are_welcome() -> None:
    check_identity(KEPT, replace(KEPT))


@pytest.mark.parametrize(
    ("option", "wanted", "said", "was"),
    [
        ("profile", "pa", "--profile is pa", "--profile nj"),
        ("games", ("a", "b"), "--games is a,b", "--games lantern_night"),
        ("denomination", 5, "--denomination is 5", "--denomination 25"),
        ("asset", 2, "--asset is 2", "--asset 1"),
        ("serial", "X", "--serial is X", "--serial SIM00001"),
        ("sas_version", "603", "--sas-version is 603", "--sas-version 602"),
        ("validation", "system", "--validation is system", "--validation enhanced"),
        ("validation_id", 0x10, "--validation-id is 000010", "--validation-id 00AB12"),
        ("validation_id", None, "--validation-id is none", "--validation-id 00AB12"),
    ],
)
def test_what_differs_is_named_with_what_it_was_and_what_would_help(
    option: str, wanted: object, said: str, was: str
) -> None:
    sentence = refusal(lambda: check_identity(KEPT, replace(KEPT, **{option: wanted})))  # type: ignore[arg-type]
    assert said in sentence
    assert f"start with {was}" in sentence
    assert "--data" in sentence
