"""The program's data as read-only folders: in the source tree, in a package, or on a mounted medium."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path, PurePosixPath

from hal.backends.errors import BackendError, reason
from hal.ports.media import MediaError

# Code that lies beside the data in a package; the medium holds data.
_CODE_SUFFIXES = (".py", ".pyc")
_CODE_FOLDER = "__pycache__"


class MediaFolder:
    """Folders under prefixes as one Media. Nothing outside them can be read, through ``..`` or a symlink
    either.

    Args:
        folders: prefix, such as ``games/library``, to folder; the empty prefix puts a folder's files at the
            top. Of two prefixes that fit a name the longer one decides.

    Raises:
        BackendError: one of them is no folder.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders: list[tuple[str, Path]] = []
        for prefix, folder in sorted(folders.items(), key=lambda item: len(item[0]), reverse=True):
            if not folder.is_dir():
                raise BackendError(f"{folder} is no folder; {prefix or 'the media'} is read from there.")
            self._folders.append((f"{prefix.strip('/')}/" if prefix.strip("/") else "", folder.resolve()))

    def names(self, prefix: str = "") -> tuple[str, ...]:
        """Return the names that begin with ``prefix``, sorted; hidden files and code are left out."""
        found: set[str] = set()
        for root, folder in self._folders:
            if root.startswith(prefix) or prefix.startswith(root):
                found.update(
                    name
                    for path in folder.rglob("*")
                    if (name := root + path.relative_to(folder).as_posix()).startswith(prefix)
                    and self._place(name) == path
                    and path.is_file()
                )
        return tuple(sorted(found))

    def read(self, name: str) -> bytes:
        """Return the whole content of the file. Raises MediaError."""
        path = self._place(name)
        if path is None or not path.is_file():
            raise MediaError(f"{name} is not on the medium.")
        try:
            return path.read_bytes()
        except OSError as error:
            raise MediaError(f"Cannot read {name}: {reason(error)}.") from error

    def _place(self, name: str) -> Path | None:
        """Return where ``name`` is, ``None`` if such a name cannot be on the medium."""
        parts = PurePosixPath(name).parts
        is_data = all(not part.startswith((".", "/")) and part != _CODE_FOLDER for part in parts)
        if not is_data or name != "/".join(parts) or name.endswith(_CODE_SUFFIXES) or "\0" in name:
            return None
        for root, folder in self._folders:
            if name.startswith(root):
                path = folder / name.removeprefix(root)
                return path if path.resolve().is_relative_to(folder) else None
        return None


def package_folder(package: str, folder: str = "") -> Path:
    """Return a folder of an installed package's data. Raises BackendError if it is not a folder on disk."""
    found = resources.files(package)
    for part in PurePosixPath(folder).parts:
        found = found / part
    if not isinstance(found, Path) or not found.is_dir():
        raise BackendError(f"The package {package} has no folder {folder} on disk; install it unpacked.")
    return found
