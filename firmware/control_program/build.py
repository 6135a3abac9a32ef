"""From options and media to the rules of a machine: profile, games, first settings, identity."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.control_program.cabinet import Cabinet
from firmware.control_program.devices import DEVICES
from firmware.control_program.errors import ConfigError
from firmware.control_program.options import MachineOptions
from firmware.control_program.state_blocks import LINE_COUNT_MAX, Identity
from firmware.core import meters
from firmware.core.doors import DOORS
from firmware.core.settings import SETTINGS
from firmware.core.state import OfferedGame, Rules
from firmware.games.loader import GameRefusedError, load_game
from firmware.games.par_sheet import ParSheetError
from firmware.games.reel_game import ReelGame
from firmware.profiles.profile import Profile, ProfileError, parse_profile
from hal.ports.media import Media, MediaError

_LIBRARY = "games/library/"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a machine is built from."""

    profile: Profile
    rules: Rules
    settings: dict[str, int]
    identity: Identity


def plan(cabinet: Cabinet, options: MachineOptions) -> Plan:
    """Load and check everything that the options name.

    Raises:
        ConfigError: a profile or game is missing, refused or unreadable; the denomination fits no game.
    """
    profile = load_profile(cabinet.media, options.profile)
    _check_meters(profile)
    names = options.games or library_names(cabinet.media)
    if not 1 <= len(names) <= meters.GAME_COUNT_MAX:
        raise ConfigError(f"games: {len(names)} games, but a machine offers 1..{meters.GAME_COUNT_MAX}")
    games = tuple(
        _offered(cabinet.media, name, number, profile, options) for number, name in enumerate(names, 1)
    )
    if len(cabinet.sas_lines) > LINE_COUNT_MAX:
        raise ConfigError(f"sas: {len(cabinet.sas_lines)} lines, but a machine has at most {LINE_COUNT_MAX}")
    return Plan(
        profile=profile,
        rules=Rules(games, _parts(cabinet), _doors(cabinet), len(cabinet.sas_lines), _duties(cabinet)),
        settings=_first_settings(profile, options),
        identity=Identity(
            profile=options.profile,
            games=tuple(names),
            denomination=options.denomination,
            asset=options.asset,
            serial=options.serial,
            sas_version=options.sas_version,
            validation=options.validation,
            validation_id=options.validation_id,
        ),
    )


def _first_settings(profile: Profile, options: MachineOptions) -> dict[str, int]:
    """What a new machine's settings are where the profile or an option says so."""
    entries = profile.entries()
    given = {row.key: entries[row.profile].value for row in SETTINGS.values() if row.profile}
    return {**given, "accounting_denomination": options.denomination}


def _check_meters(profile: Profile) -> None:
    """Refuse a profile that requires a meter which nobody counts, or adds up what cannot be added."""
    for key in profile.required_meters.value:
        if key not in meters.METERS and key not in profile.meter_waivers.value:
            raise ConfigError(
                f"profile {profile.name}: this program has no meter {key!r}, which "
                f"{profile.required_meters.citation} requires; the profile needs a waiver for it"
            )
    for key, terms in profile.composite_meters.value.items():
        unknown = [term for term in terms if term not in meters.METERS]
        if unknown:
            raise ConfigError(
                f"profile {profile.name}: its meter {key!r} adds up {unknown[0]!r}, which is no meter"
            )
        if key in meters.METERS or len({meters.METERS[term].unit for term in terms}) != 1:
            raise ConfigError(
                f"profile {profile.name}: its meter {key!r} must have a name of its own and parts of one unit"
            )


def check_identity(kept: Identity, wanted: Identity) -> None:
    """Refuse options that differ from those that the data folder was made with (decisions.md "Machine").

    Raises:
        ConfigError: names the option, both values and what would change it.
    """
    for option in Identity.__dataclass_fields__:
        was, is_now = getattr(kept, option), getattr(wanted, option)
        if was != is_now:
            name = option.replace("_", "-")
            asked, kept_as = _words(option, is_now), _words(option, was)
            raise ConfigError(
                f"--{name} is {asked}, but this data folder was made with {kept_as}; start with "
                f"--{name} {kept_as}, or give --data a new folder"
            )


def _words(option: str, value: object) -> str:
    """A value as its option takes it."""
    if value is None:
        return "none"
    if option == "validation_id":
        return f"{value:06X}"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def library_names(media: Media) -> tuple[str, ...]:
    """The games of the library: the standard set."""
    return tuple(
        name.removeprefix(_LIBRARY).split("/")[0]
        for name in media.names(_LIBRARY)
        if name.endswith("/par.toml")
    )


def load_profile(media: Media, name: str) -> Profile:
    """Read a profile by name. Raises ConfigError that names those there are."""
    known = [file.removeprefix("profiles/").removesuffix(".toml") for file in media.names("profiles/")]
    known = [one for one in known if "." not in one and "/" not in one]
    if name not in known:
        raise ConfigError(f"--profile is {name!r}, but there are: {', '.join(known)}")
    try:
        return parse_profile(
            media.read(f"profiles/{name}.toml").decode(),
            f"profiles/{name}.toml",
            lambda other: media.read(f"profiles/{other}.toml").decode(),
        )
    except (ProfileError, MediaError, UnicodeDecodeError) as error:
        raise ConfigError(str(error)) from error


def _offered(media: Media, name: str, number: int, profile: Profile, options: MachineOptions) -> OfferedGame:
    source = f"{_LIBRARY}{name}/par.toml"
    if source not in media.names(_LIBRARY):
        raise ConfigError(f"--games names {name!r}, but the library has: {', '.join(library_names(media))}")
    try:
        game: ReelGame = load_game(media.read(source).decode(), source, profile)
    except (ParSheetError, GameRefusedError, MediaError, UnicodeDecodeError) as error:
        raise ConfigError(str(error)) from error
    if options.denomination not in game.denominations:
        offered = ", ".join(map(str, game.denominations))
        raise ConfigError(
            f"--denomination is {options.denomination} cents, but game {name} is offered at: {offered}"
        )
    return OfferedGame(number, game, int(game.base_percent))


def _parts(cabinet: Cabinet) -> frozenset[str]:
    unknown = sorted(set(cabinet.devices) - set(DEVICES))
    if unknown:
        raise ConfigError(f"cabinet: there is no device {unknown[0]!r}; there are: {', '.join(DEVICES)}")
    return frozenset(DEVICES[name].part for name in cabinet.devices)


def _duties(cabinet: Cabinet) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(line.duties) for line in cabinet.sas_lines)


def _doors(cabinet: Cabinet) -> tuple[str, ...]:
    return tuple(door for door in DOORS if f"door_{door}" in cabinet.inputs.names)
