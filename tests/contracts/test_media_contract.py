"""What every Media promises, run on each back end."""

from __future__ import annotations

from pathlib import Path

import pytest

from hal.backends.media_folder import MediaFolder
from hal.backends.memory_media import MemoryMedia
from hal.ports.media import Media, MediaError

FILES = {
    "games/library/bells/par.toml": b"cycle = 32768\n",
    "games/library/bells/rules.md": "Glocken läuten\n".encode(),
    "games/library/bells2/par.toml": b"\xff\x00\xfe",
    "profiles/nj.toml": b"",
}


def folder(root: Path) -> Media:
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return MediaFolder({"": root})


def folders_under_prefixes(root: Path) -> Media:
    folder(root)
    return MediaFolder({"games/library": root / "games" / "library", "profiles": root / "profiles"})


def memory(_: Path) -> Media:
    return MemoryMedia(FILES)


@pytest.fixture(params=[memory, folder, folders_under_prefixes])
def media(request: pytest.FixtureRequest, tmp_path: Path) -> Media:
    made: Media = request.param(tmp_path)
    return made


class TestMedia:
    def test_all_names_are_listed_sorted(self, media: Media) -> None:
        assert media.names() == tuple(sorted(FILES))

    @pytest.mark.parametrize(
        "start", ["", "p", "x", "profiles/", "games/library/bells", "games/library/bells/"]
    )
    def test_a_prefix_is_the_beginning_of_the_text(self, media: Media, start: str) -> None:
        assert media.names(start) == tuple(sorted(name for name in FILES if name.startswith(start)))

    @pytest.mark.parametrize("name", FILES)
    def test_content_is_returned_byte_for_byte(self, media: Media, name: str) -> None:
        assert media.read(name) == FILES[name]

    @pytest.mark.parametrize(
        "name",
        [
            "games/library/cherries/par.toml",
            "games",
            "games/library/bells",
            "games/library/bells/",
            "",
            "/games/library/bells/par.toml",
            "games//library/bells/par.toml",
            "games/library/./bells/par.toml",
            "games/../profiles/nj.toml",
            "profiles/nj.toml\0",
        ],
    )
    def test_what_is_no_name_of_a_file_is_an_error_that_names_it(self, media: Media, name: str) -> None:
        with pytest.raises(MediaError) as caught:
            media.read(name)
        assert name in str(caught.value)
