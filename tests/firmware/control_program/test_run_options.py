"""Options: what is allowed, how the layers merge, and that each refusal is one sentence that helps."""

from __future__ import annotations

import pytest

from firmware.control_program.config_file import parse
from firmware.control_program.errors import ConfigError
from firmware.control_program.options import (
    BY_KEY,
    DEFAULT_DUTIES,
    MachineOptions,
    RunOptions,
    SasLineOptions,
    TimeMode,
    merge,
    parse_option,
)


def from_text(text: str) -> RunOptions:
    return merge({}, parse(text, "egm.toml"))


def from_words(**words: str) -> RunOptions:
    return merge({key: parse_option(BY_KEY[key], word) for key, word in words.items()}, {})


def test_nothing_said_gives_the_documented_defaults() -> None:
    options = merge({}, {})
    assert options == RunOptions()
    assert options.machine == MachineOptions()
    assert (options.machine.profile, options.machine.denomination, options.machine.serial) == (
        "nj",
        1,
        "SIM00001",
    )
    assert options.sas == (SasLineOptions("", 1, "reference", DEFAULT_DUTIES),)
    assert options.panel is not None
    assert (options.panel.host, options.panel.port, options.panel.tester) == ("127.0.0.1", 8080, True)


def test_every_option_may_stand_in_the_file() -> None:
    options = from_text(
        """
        data = "somewhere"
        cabinet = "simulated"
        profile = "pa"
        games = ["a", "b"]
        denomination = 25
        sas = "tcp:127.0.0.1:4001?marked"
        sas_address = 7
        behaviour = "strict"
        validation = "system"
        validation-id = "00aB01"
        asset = 4294967295
        serial = "X-1"
        sas_version = 603
        game_id = "ZZ"
        additional_id = "123"
        gat = "off"
        panel = "0.0.0.0:0"
        panel_token = "a-long-token"
        insecure = true
        no_tester = true
        seed = 0
        time = "real"
        headless = true
        restart = true
        """
    )
    machine = MachineOptions(
        "pa", ("a", "b"), 25, 0xFFFF_FFFF, "X-1", "603", 0, "system", 0x00AB01, "ZZ", "123"
    )
    assert options.machine == machine
    assert options.sas == (SasLineOptions("tcp:127.0.0.1:4001?marked", 7, "strict", DEFAULT_DUTIES),)
    assert options.panel is not None
    assert (options.panel.host, options.panel.token, options.panel.tester) == (
        "0.0.0.0",
        "a-long-token",
        False,
    )
    assert (options.data, options.headless, options.restart) == ("somewhere", True, True)


def test_the_command_line_wins_over_the_file() -> None:
    config = parse("denomination = 25\nasset = 9\n[[sas]]\nurl = 'memory:one'\naddress = 3\n", "egm.toml")
    options = merge({"denomination": 5, "sas_address": 4}, config)
    assert (options.machine.denomination, options.machine.asset) == (5, 9)
    assert options.sas[0] == SasLineOptions("memory:one", 4, "reference", DEFAULT_DUTIES)


def test_the_first_line_gets_the_duties_that_no_line_claims() -> None:
    options = from_text(
        "[[sas]]\nurl = 'memory:one'\n[[sas]]\nurl = 'memory:two'\nduties = ['aft', 'validation']\n"
        "[[sas]]\nurl = 'memory:three'\n"
    )
    assert options.sas[0].duties == ("general", "legacy_bonus", "progressive", "game_events")
    assert options.sas[1].duties == ("aft", "validation")
    assert options.sas[2].duties == ()


def test_a_machine_may_begin_without_a_validation_id() -> None:
    assert from_words(validation_id="none").machine.validation_id is None


def test_time_may_run_free_when_every_line_is_in_memory() -> None:
    assert from_words(time="x60", sas="memory:a").time == TimeMode("paced", 60)


REFUSED_WORDS = [
    ("denomination", "7", "--denomination 7: not one of them; allowed: whole cents"),
    ("denomination", "0.5", "--denomination 0.5"),
    ("sas", "serial:/dev/ttyS0", "allowed: pty:LINK, tcp:HOST:PORT or memory:NAME"),
    ("sas", "tcp:4001", "a tcp: URL needs a host and a port"),
    ("sas_address", "128", "--sas-address 128: out of range; allowed: 1 to 127"),
    ("sas_address", "0", "out of range"),
    ("sas_address", "one", "not a whole number"),
    ("validation", "none", "allowed: standard, enhanced, system"),
    ("validation_id", "1000000", "allowed: 1 to 6 hexadecimal digits"),
    ("validation_id", "0", "not zero"),
    ("asset", "-1", "not a whole number"),
    ("asset", "4294967296", "out of range"),
    ("serial", "é", "printable ASCII"),
    ("sas_version", "601", "allowed: 602, 603"),
    ("games", "a,,b", "a name is empty"),
    ("games", "a,a", "stands twice"),
    ("gat", "pty:/x", "this version has no GAT line yet"),
    ("panel", "8080", "allowed: HOST:PORT or off"),
    ("panel", "127.0.0.1:70000", "HOST:PORT"),
    ("time", "x0", "allowed: real, free"),
    ("seed", "-3", "not a whole number"),
    ("seed", "18446744073709551616", "out of range"),
    ("cabinet", "mine.toml", "allowed: simulated"),
    ("panel_token", "short", "8 to 200"),
]


@pytest.mark.parametrize(("key", "word", "sentence"), REFUSED_WORDS, ids=lambda value: str(value)[:20])
def test_a_wrong_word_is_named_with_what_is_allowed(key: str, word: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        from_words(**{key: word})
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


REFUSED_TEXTS = [
    ("denomination = 7", "egm.toml: denomination = 7: not one of them"),
    ("denomination = true", "egm.toml: denomination = True"),
    ("denomination = 25.0", "egm.toml: denomination = 25.0"),
    ("denominations = 25", "egm.toml: denominations: no such key; allowed: data, cabinet"),
    ("panel-token = 'long-enough'\npanel_token = 'long-enough'", "stands twice"),
    ("headless = 'yes'", "neither true nor false"),
    ("denomination =", "not TOML"),
    ("sas = [1]", "[[sas]] 1: not a table"),
    ("[[sas]]\nport = 3", "egm.toml: [[sas]] 1: port: no such key; allowed: url, address, behaviour, duties"),
    ("[[sas]]\nduties = ['cash']", "no such duty as cash"),
    ("[[sas]]\nurl = 'memory:a'\n[[sas]]\nurl = 'memory:a'", "two SAS lines are at memory:a"),
    (
        "[[sas]]\nurl = 'memory:a'\nduties = ['aft']\n[[sas]]\nurl = 'memory:b'\nduties = ['aft']",
        "two SAS lines have the duty aft",
    ),
    ("time = 'free'", "the SAS line is pty:DATA/sas"),
    ("panel = '0.0.0.0:80'", "needs --panel-token"),
    ("panel = '0.0.0.0:80'\npanel_token = 'long-enough'", "--insecure"),
    ("panel = '0.0.0.0:80'\ninsecure = true", "--panel-token"),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED_TEXTS, ids=lambda value: str(value)[:24])
def test_a_wrong_file_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        from_text(text)
    assert sentence in str(refused.value)
