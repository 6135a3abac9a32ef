"""``egm rng``: collect what the generator gives, test it, and hold its mechanisms to NIST's known answers.

The collectors that a laboratory asks for (rng_and_stats.md 1): raw output and final draws, both through the
calls that the machine itself uses.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NoReturn

import typer

from firmware.rng.cavp import CASES, Case, Flow
from firmware.rng.ctr_drbg import CtrDrbg
from firmware.rng.drbg import REQUEST_BYTES_MAX, DrbgError
from firmware.rng.generator import Generator, Personalization, RngFailureError
from firmware.rng.hmac_drbg import HmacDrbg
from firmware.rng.known_answers import Mechanism, passes
from firmware.rng.scaling import DRAWS_MAX, RANGE_MAX
from hal.backends.seeded_entropy import SeededEntropy
from hal.backends.system_entropy import SystemEntropy
from hal.ports.entropy import Entropy, EntropyError

app = typer.Typer(
    help="Random numbers: collect samples, test them, check known answers.", no_args_is_help=True
)

MECHANISMS: dict[str, Mechanism] = {CtrDrbg.name: CtrDrbg, HmacDrbg.name: HmacDrbg}
# Long enough to be worth a progress display on a terminal.
_LONG_BYTES = 64 << 20
_LONG_DRAWS = 1_000_000

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Seed = Annotated[
    str | None, typer.Option(help="Repeatable numbers from this seed, for tests; never for play.")
]


@app.command()
def sample(
    ranges: Annotated[
        str | None, typer.Option(help="Ranges of one draw, such as 32,32,32: value i is in 0..range-1.")
    ] = None,
    count: Annotated[int, typer.Option(help="How many draws, each one request of the generator.")] = 1,
    raw: Annotated[int | None, typer.Option(help="Raw bytes instead: how many.", metavar="SIZE")] = None,
    seed: Seed = None,
    output: Annotated[
        Path | None, typer.Option(help="Write to this file instead of standard output.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print draws, one a line, or raw bytes, through the machine's own generator.

    Example: egm rng sample --ranges 32,32,32 --count 1000

    Example: egm rng sample --raw 1073741824 | dieharder -a -g 200
    """
    if (ranges is None) == (raw is None):
        _refuse("say either --ranges (scaled draws) or --raw (bytes)")
    if raw is not None and raw < 1:
        _refuse(f"--raw {raw}: the size is 1 byte or more")
    if count < 1:
        _refuse(f"--count {count}: the count is 1 or more")
    sizes = _ranges(ranges) if ranges is not None else ()
    if raw is not None and output is None and not as_json and sys.stdout.isatty():
        _refuse("raw bytes would upset this terminal: use --output FILE, --json or a pipe")
    generator = _generator(seed)
    seeded = {"seed": seed}
    if raw is not None:
        pieces: Iterable[bytes] = _raw(generator, raw)
        if as_json:
            pieces = _json_hex({"size": raw, **seeded}, pieces)
    else:
        rows = (generator.draw(sizes) for _ in _progress(count, _LONG_DRAWS))
        pieces = _json_rows({"ranges": list(sizes), **seeded}, rows) if as_json else _text_rows(rows)
    try:
        _write(output, pieces)
    except RngFailureError as error:
        _out_of_service(error)


@app.command()
def vectors(
    file: Annotated[
        Path | None, typer.Option(help="Cases in TOML ([[case]] tables) instead of those in the program.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run NIST's known answers through both mechanisms. Exit code 1 if one fails.

    Example: egm rng vectors

    Example: egm rng vectors --file tests/vectors/drbg.toml
    """
    cases = CASES if file is None else _read_cases(file)
    passed: dict[str, int] = {}
    failed: dict[str, int] = {}
    failures: list[str] = []
    for case in cases:
        group = f"{case.mechanism}, {case.flow.value}"
        is_right = _is_right(case)
        passed[group] = passed.get(group, 0) + is_right
        failed[group] = failed.get(group, 0) + (not is_right)
        if not is_right:
            failures.append(f"{group}, count {case.count}")
    total = {"passed": sum(passed.values()), "failed": sum(failed.values())}
    if as_json:
        groups = [{"name": name, "passed": passed[name], "failed": failed[name]} for name in passed]
        typer.echo(json.dumps({**total, "groups": groups, "failures": failures}))
    else:
        for name in passed:
            typer.echo(f"{name}: {passed[name]} passed, {failed[name]} failed")
        for failure in failures:
            typer.echo(f"FAILED: {failure}")
        typer.echo(f"{total['passed']} passed, {total['failed']} failed")
    raise typer.Exit(1 if failures else 0)


@app.command()
def test(
    ranges: Annotated[
        str, typer.Option(help="Ranges of one draw, such as 32,32,32: each is tested as a reel of its own.")
    ] = "32,32,32,32,32",
    count: Annotated[int, typer.Option(help="How many draws, each one request of the generator.")] = 100_000,
    level: Annotated[
        float, typer.Option(help="Confidence in percent, corrected for the number of tests.")
    ] = 99.0,
    fast: Annotated[
        bool, typer.Option("--fast", help="Same mechanism and scaling in NumPy: for many millions of draws.")
    ] = False,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Test final outcomes, reel by reel: chi-square, runs, serial and interplay correlation, gap, poker.

    Exit code 1 if an outcome is less likely than the level allows, as happens to an honest generator in one
    of a hundred runs at 99 %. Needs NumPy.

    Example: egm rng test --ranges 22,22,22 --count 1000000
    """
    sizes = _ranges(ranges)
    if count < 10_000:
        _refuse(f"--count {count}: fewer than 10,000 draws show nothing")
    if not 50 <= level < 100:
        _refuse(f"--level {level}: a confidence level is in 50..100 percent, without 100")
    if not all(2 <= size <= 1000 for size in sizes):
        _refuse("--ranges: reels of 2..1,000 stops can be tested")
    p_values = _outcome_p_values(seed, sizes, count, fast)
    least = (1 - level / 100) / len(p_values)
    unlikely = {name: p for name, p in p_values.items() if p < least}
    if as_json:
        document = {"ranges": list(sizes), "count": count, "seed": seed, "level": level, "least_p": least}
        typer.echo(json.dumps({**document, "passed": not unlikely, "p": p_values}))
    else:
        width = max(map(len, p_values))
        for name, p in p_values.items():
            typer.echo(f"{name:{width}}  p = {p:.6f}{'  UNLIKELY' if name in unlikely else ''}")
        typer.echo(f"{len(p_values)} tests, {len(unlikely)} unlikely at {level:g} % (p below {least:.2g})")
    raise typer.Exit(1 if unlikely else 0)


def _source(seed: str | None) -> Entropy:
    return SystemEntropy() if seed is None else SeededEntropy(seed)


def _generator(seed: str | None) -> Generator:
    """The machine's generator, on the system's entropy or on a seed."""
    generator = Generator(_source(seed), Personalization("egm rng", 0), now_us=0)
    if generator.failure is not None:
        _out_of_service(RngFailureError(generator.failure))
    return generator


def _ranges(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(word) for word in text.split(","))
    except ValueError:
        _refuse(f"--ranges {text}: give whole numbers with commas between them, such as 32,32,32")
    if not all(1 <= size <= RANGE_MAX for size in sizes):
        _refuse(f"--ranges {text}: a range is in 1..2^64")
    if len(sizes) > DRAWS_MAX:
        _refuse(f"--ranges: {len(sizes)} numbers in one draw, at most {DRAWS_MAX} are possible")
    return sizes


def _raw(generator: Generator, size: int) -> Iterator[bytes]:
    whole, rest = divmod(size, REQUEST_BYTES_MAX)
    for _ in _progress(whole, _LONG_BYTES // REQUEST_BYTES_MAX):
        yield generator.raw(REQUEST_BYTES_MAX)
    if rest:
        yield generator.raw(rest)


def _text_rows(rows: Iterable[tuple[int, ...]]) -> Iterator[bytes]:
    for row in rows:
        yield " ".join(map(str, row)).encode() + b"\n"


def _json_rows(head: dict[str, Any], rows: Iterable[tuple[int, ...]]) -> Iterator[bytes]:
    """One JSON object with the draws last, written as they come so that any number of them fits."""
    yield json.dumps(head).encode()[:-1] + b', "draws": ['
    separator = b""
    for row in rows:
        yield separator + json.dumps(row).encode()
        separator = b", "
    yield b"]}\n"


def _json_hex(head: dict[str, Any], pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield json.dumps(head).encode()[:-1] + b', "hex": "'
    for piece in pieces:
        yield piece.hex().encode()
    yield b'"}\n'


def _write(output: Path | None, pieces: Iterable[bytes]) -> None:
    with ExitStack() as stack:
        stream: BinaryIO = sys.stdout.buffer
        if output is not None:
            try:
                stream = stack.enter_context(output.open("wb"))
            except OSError as error:
                _refuse(f"--output {output}: {error.strerror}")
        for piece in pieces:
            stream.write(piece)
        stream.flush()


def _progress(count: int, long: int) -> Iterator[int]:
    """Count to ``count``; where that takes long and a person watches, show how far it is."""
    if count < long or not sys.stderr.isatty():
        yield from range(count)
        return
    with typer.progressbar(range(count), file=sys.stderr, update_min_steps=max(1, count // 200)) as steps:
        yield from steps


def _read_cases(file: Path) -> list[Case]:
    """Read CAVP cases as they stand in ``tests/vectors/drbg.toml``."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")).get("case", [])
    except OSError as error:
        _refuse(f"--file {file}: {error.strerror}")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        _refuse(f"--file {file}: not TOML: {error}")
    if not isinstance(tables, list) or not tables:
        _refuse(f"--file {file}: there is no [[case]] in it")
    cases = []
    for number, table in enumerate(tables, start=1):
        try:
            cases.append(_case(table))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            _refuse(f"--file {file}: case {number} cannot be used: {type(error).__name__} {error}")
    return cases


def _case(table: dict[str, Any]) -> Case:
    flow = Flow(table["flow"])
    first, second = table["additional_input"]
    reseeds: tuple[tuple[str, str], ...] = ()
    additional = (first, second)
    if flow is Flow.RESEED:
        reseeds = ((table["entropy_input_reseed"], table["additional_input_reseed"]),)
    elif flow is Flow.PREDICTION_RESISTANCE:
        first_entropy, second_entropy = table["entropy_input_pr"]
        reseeds = ((first_entropy, first), (second_entropy, second))
        additional = ("", "")
    if table["mechanism"] not in MECHANISMS:
        raise ValueError(f"mechanism {table['mechanism']!r}, known are {', '.join(MECHANISMS)}")
    case = Case(
        mechanism=table["mechanism"],
        flow=flow,
        count=int(table["count"]),
        entropy=table["entropy_input"],
        nonce=table["nonce"],
        personalization=table["personalization_string"],
        reseeds=reseeds,
        additional=additional,
        returned=table["returned_bits"],
    )
    texts = [case.entropy, case.nonce, case.personalization, case.returned, *additional]
    for text in (*texts, *(part for reseed in reseeds for part in reseed)):
        bytes.fromhex(text)
    return case


def _is_right(case: Case) -> bool:
    try:
        return passes(MECHANISMS[case.mechanism], case)
    except DrbgError:
        return False


def _outcome_p_values(seed: str | None, sizes: tuple[int, ...], count: int, fast: bool) -> dict[str, float]:
    """Draw ``count`` games and return the p-value of each test by name."""
    try:
        from simulator.maths import outcome_tests
    except ImportError:
        _refuse("this needs NumPy, which is not installed: pip install 'egm[math]'")
    reels = _reels_in_bulk(seed, sizes, count) if fast else _reels(seed, sizes, count)
    p_values: dict[str, float] = {}
    for number, (reel, size) in enumerate(zip(reels, sizes, strict=True), start=1):
        for name, p in outcome_tests.position(reel, size).items():
            p_values[f"reel_{number}_{name}"] = p
    for first, second in combinations(range(len(sizes)), 2):
        p = outcome_tests.correlation(reels[first], reels[second])
        p_values[f"reels_{first + 1}_{second + 1}_interplay"] = p
    return p_values


def _reels(seed: str | None, sizes: tuple[int, ...], count: int) -> list[Any]:
    """The outcomes of each reel, as an array, from the machine's own calls: one a game."""
    import numpy as np

    draw = _generator(seed).draw
    flat = (value for _ in _progress(count, _LONG_DRAWS) for value in draw(sizes))
    try:
        games = np.fromiter(flat, dtype=np.int64, count=count * len(sizes)).reshape(count, len(sizes))
    except RngFailureError as error:
        _out_of_service(error)
    return list(games.T)


def _reels_in_bulk(seed: str | None, sizes: tuple[int, ...], count: int) -> list[Any]:
    """The same from requests of 64 KiB, one reel after the other."""
    from simulator.maths.bulk_draws import BulkDraws

    source = _source(seed)
    drbg = CtrDrbg()
    try:
        drbg.instantiate(source.read(48), source.read(16), b"egm rng test --fast")
    except EntropyError as error:
        _out_of_service(error)
    bulk = BulkDraws(drbg)
    return [bulk.below(size, count) for size in sizes]


def _refuse(sentence: str) -> NoReturn:
    """Wrong usage: one sentence, exit code 2."""
    typer.echo(f"egm rng: {sentence}", err=True)
    raise typer.Exit(2)


def _out_of_service(error: RngFailureError | EntropyError) -> NoReturn:
    """The generator said no: one sentence, exit code 1."""
    typer.echo(f"egm rng: {error}", err=True)
    raise typer.Exit(1)
