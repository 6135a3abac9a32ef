"""Profiles: every figure stated with unit and clause, nothing unknown, nothing missing."""

from __future__ import annotations

import csv
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import pytest
import tomlkit

from firmware.core.meters import METERS
from firmware.profiles.profile import LAYOUT, NO_CLAUSE, Profile, ProfileError, parse_profile

ROOT = Path(__file__).resolve().parents[3]
PROFILES = ROOT / "firmware" / "profiles"
NAMES = sorted(path.stem for path in PROFILES.glob("*.toml"))


def text(name: str) -> str:
    return (PROFILES / f"{name}.toml").read_text()


def profile(name: str) -> Profile:
    return parse_profile(text(name), name, text)


def refusal(content: str, read: dict[str, str] | None = None) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        parse_profile(content, "p.toml", lambda name: (read or {})[name])
    assert str(caught.value) == f"{caught.value.source}: {caught.value.key}: {caught.value.problem}"
    return caught.value


def requirements() -> dict[str, str]:
    with (ROOT / "docs" / "law" / "requirements.tsv").open(newline="", encoding="utf-8") as file:
        return {
            row["id"]: row["source"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        }


def test_the_layout_is_the_profile() -> None:
    assert [field.name for field in fields(Profile)] == ["name", "title", *LAYOUT]


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_is_named_like_its_file(name: str) -> None:
    assert profile(name).name == name


@pytest.mark.parametrize("name", NAMES)
def test_every_clause_exists(name: str) -> None:
    known = requirements()
    for key, entry in profile(name).entries().items():
        assert all(clause in known for clause in entry.clauses), key


@pytest.mark.parametrize(("name", "prefix"), [("nj", "N.J.A.C."), ("pa", "58 Pa. Code")])
def test_a_profile_cites_its_own_law(name: str, prefix: str) -> None:
    known = requirements()
    cited = [clause for entry in profile(name).entries().values() for clause in entry.clauses]
    assert cited
    assert all(known[clause].startswith(prefix) for clause in cited)


def test_md_is_pa_with_no_clause() -> None:
    pa, md = profile("pa").entries(), profile("md").entries()
    assert {key: entry.value for key, entry in md.items()} == {key: entry.value for key, entry in pa.items()}
    assert {entry.citation for entry in md.values()} == {NO_CLAUSE}


@pytest.mark.parametrize("name", NAMES)
def test_required_meters_are_meters(name: str) -> None:
    assert set(profile(name).required_meters.value) <= set(METERS)


@pytest.mark.parametrize("name", ["nj", "pa"])
def test_each_meter_clause_is_met_by_a_required_meter(name: str) -> None:
    """The clause list of the entry and the meters in it belong together, by the law column of the table."""
    entry = profile(name).required_meters
    of_meters = {clause for key in entry.value for clause in METERS[key].law}
    assert set(entry.clauses) <= of_meters
    assert all(set(METERS[key].law) & set(entry.clauses) for key in entry.value)


def test_figures_of_the_decisions() -> None:
    """decisions.md, money and meters: limits; machine: a printer tilt blocks play under nj."""
    for name in NAMES:
        one = profile(name)
        assert one.credit_limit.value == 1_000_000
        assert one.handpay_limit.value == 119_999
        assert one.voucher_limit.value == 300_000
        assert one.wager_limit.value == 100
    assert profile("nj").printer_tilt_blocks_play.value
    assert not profile("pa").printer_tilt_blocks_play.value


def test_shares_are_exact() -> None:
    nj = profile("nj")
    assert nj.return_min.value == Fraction(83, 100)
    assert nj.return_drop_ignored.value == Fraction(1, 10_000)
    assert nj.return_drops_total_max.value == Fraction(5, 1_000)
    assert nj.return_below.value is None
    assert profile("pa").return_below.value == 1


@pytest.mark.parametrize("key", LAYOUT)
def test_a_missing_entry_is_named(key: str) -> None:
    content = tomlkit.parse(text("nj"))
    del content[key]
    error = refusal(tomlkit.dumps(content))
    assert (error.source, error.key) == ("p.toml", key)
    assert error.problem.startswith("is missing")
    assert repr(LAYOUT[key].unit) in error.problem


@pytest.mark.parametrize("key", LAYOUT)
def test_a_value_of_another_kind_is_named(key: str) -> None:
    content = tomlkit.parse(text("nj"))
    content[key]["value"] = [True]  # type: ignore[index]
    error = refusal(tomlkit.dumps(content))
    assert error.key == f"{key}.value"
    assert "allowed" in error.problem


@pytest.mark.parametrize("key", LAYOUT)
def test_a_wrong_unit_is_named(key: str) -> None:
    content = tomlkit.parse(text("nj"))
    content[key]["unit"] = "furlongs"  # type: ignore[index]
    error = refusal(tomlkit.dumps(content))
    assert (error.key, error.problem) == (f"{key}.unit", f"is 'furlongs'; {LAYOUT[key].unit!r} is allowed")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("odds_max", 0),
        ("odds_max", True),
        ("odds_max", 1.5),
        ("return_min", -1),
        ("return_min_at", "sometimes"),
        ("required_meters", ["coin_in", "coin_in"]),
        ("malfunction_text", ""),
        ("printer_tilt_blocks_play", 1),
    ],
)
def test_a_value_out_of_range_is_named(key: str, value: object) -> None:
    content = tomlkit.parse(text("nj"))
    content[key]["value"] = value  # type: ignore[index]
    error = refusal(tomlkit.dumps(content))
    assert error.key == f"{key}.value"


def test_an_unknown_entry_is_named_with_the_known_ones() -> None:
    error = refusal(text("nj") + '\n[credit_limt]\nvalue = 1\nunit = "cents"\nclauses = "no clause"\n')
    assert error.key == "credit_limt"
    assert "credit_limit" in error.problem


@pytest.mark.parametrize("clauses", [[], "none", [""], 5])
def test_clauses_are_ids_or_the_words_no_clause(clauses: object) -> None:
    content = tomlkit.parse(text("nj"))
    content["odds_max"]["clauses"] = clauses  # type: ignore[index]
    assert refusal(tomlkit.dumps(content)).key == "odds_max.clauses"


def test_an_entry_without_clauses_is_refused() -> None:
    content = tomlkit.parse(text("nj"))
    del content["odds_max"]["clauses"]  # type: ignore[union-attr]
    assert "exactly value, unit and clauses" in refusal(tomlkit.dumps(content)).problem


def test_an_including_profile_overrides_and_keeps() -> None:
    own = (
        'name = "own"\ntitle = "Own"\nincludes = "nj"\nincluded_clauses = "kept"\n'
        '[odds_max]\nvalue = 7\nunit = "to one"\nclauses = "no clause"\n'
    )
    one = parse_profile(own, "own.toml", text)
    assert (one.odds_max.value, one.odds_max.clauses) == (7, ())
    assert one.return_min == profile("nj").return_min


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ('name = "x"\ntitle = "X"\nincludes = "md"\nincluded_clauses = "kept"', "includes"),
        ('name = "x"\ntitle = "X"\nincludes = "pa"', "included_clauses"),
        ('name = "x"\ntitle = "X"\nincludes = "pa"\nincluded_clauses = "some"', "included_clauses"),
        ('name = "x"\ntitle = "X"\nincluded_clauses = "kept"', "included_clauses"),
        ("name = 5", "return_min"),
        ("= ", "file"),
    ],
)
def test_a_bad_inclusion_is_refused(content: str, key: str) -> None:
    assert refusal(content, {"md": text("md"), "pa": text("pa")}).key == key


@pytest.mark.parametrize("key", ["name", "title"])
def test_a_profile_has_name_and_title(key: str) -> None:
    content = tomlkit.parse(text("nj"))
    content[key] = ""
    assert refusal(tomlkit.dumps(content)).key == key
