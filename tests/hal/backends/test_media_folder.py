"""Media in folders: nothing outside them, no code, no surprises."""

from __future__ import annotations

from pathlib import Path

import pytest

from hal.backends.errors import BackendError
from hal.backends.media_folder import MediaFolder, package_folder
from hal.ports.media import MediaError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "media"
    (root / "games").mkdir(parents=True)
    (root / "games" / "par.toml").write_bytes(b"inside")
    (tmp_path / "secret").write_bytes(b"outside")
    return root


@pytest.mark.parametrize(
    "name", ["../secret", "games/../../secret", "/etc/passwd", "games//../../secret", ".."]
)
def test_no_name_leads_outside(root: Path, name: str) -> None:
    with pytest.raises(MediaError, match="is not on the medium"):
        MediaFolder({"": root}).read(name)


def test_a_prefix_is_not_a_way_out_either(root: Path) -> None:
    media = MediaFolder({"games": root / "games"})
    for name in ("games/../../secret", "games", "gamespar.toml"):
        with pytest.raises(MediaError):
            media.read(name)
    assert media.read("games/par.toml") == b"inside"


def test_a_symlink_that_leads_outside_is_not_on_the_medium(root: Path) -> None:
    (root / "leak").symlink_to(root.parent / "secret")
    (root / "folder").symlink_to(root.parent)
    media = MediaFolder({"": root})
    assert media.names() == ("games/par.toml",)
    for name in ("leak", "folder/secret"):
        with pytest.raises(MediaError):
            media.read(name)


def test_a_symlink_that_stays_inside_is_a_file(root: Path) -> None:
    (root / "same").symlink_to("games/par.toml")
    media = MediaFolder({"": root})
    assert media.names() == ("games/par.toml", "same")
    assert media.read("same") == b"inside"


def test_code_and_hidden_files_are_not_data(root: Path) -> None:
    (root / "games" / "__init__.py").write_text("")
    (root / "games" / "__pycache__").mkdir()
    (root / "games" / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"")
    (root / "games" / "__pycache__" / "notes.txt").write_bytes(b"")
    (root / ".hidden").write_bytes(b"")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_bytes(b"")
    media = MediaFolder({"": root})
    assert media.names() == ("games/par.toml",)
    for name in ("games/__init__.py", ".hidden", ".git/config", "games/__pycache__/notes.txt"):
        with pytest.raises(MediaError):
            media.read(name)


def test_the_longer_of_two_prefixes_decides(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "par.toml").write_bytes(b"other")
    (root / "games" / "extra.toml").write_bytes(b"hidden by the other folder")
    media = MediaFolder({"": root, "games": tmp_path / "other"})
    assert media.names() == ("games/par.toml",)
    assert media.read("games/par.toml") == b"other"
    with pytest.raises(MediaError):
        media.read("games/extra.toml")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"nowhere is no folder; games is read from there"):
        MediaFolder({"games": tmp_path / "nowhere"})


def test_a_file_that_cannot_be_read_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(MediaError, match=r"Cannot read games/par.toml: permission denied"):
        MediaFolder({"": root}).read("games/par.toml")


def test_a_packages_folder_is_found_without_importing_it() -> None:
    folder = package_folder("hal", "backends")
    assert (folder / "media_folder.py").is_file()
    assert package_folder("hal") == folder.parent
    with pytest.raises(BackendError, match="The package hal has no folder nowhere/at/all on disk"):
        package_folder("hal", "nowhere/at/all")
