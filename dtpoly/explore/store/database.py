"""Opens the SQLite file at a path, and translates its errors for the user."""

import sqlite3
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from dtpoly.explore.store.schema import APPLICATION, NAMES, TABLES, VERSION

HEADER = 100  # each database of SQLite begins with this number of bytes
# The types that SQLite may report for a value in a column of each type.
TYPES = {
    "text": "'text', 'null'",
    "integer": "'integer', 'null'",
    "real": "'real', 'null'",
    "blob": "'blob', 'null'",
}
PATIENCE = 30.0  # seconds, for another process that writes


class StoreError(Exception):
    """Raised if the file cannot be read or written; it keeps what it held before."""


def opened(path: Path, is_new: bool) -> sqlite3.Connection:
    """Open a connection to the file at a path, which has our tables. Raises StoreError.

    If the file does not exist, it is created, unless `is_new` is false.
    """
    if not is_new and not path.is_file():
        raise StoreError(f"there is no file '{path}'")
    # SQLite takes an empty file for a new database, and in some versions a file of one byte, too. A
    # reader must not turn such a file into a database.
    if not is_new and not path.stat().st_size:
        raise StoreError(f"'{path}' is empty")
    if path.is_file() and 0 < path.stat().st_size < HEADER:
        raise StoreError(f"'{path}' is not a file of results")
    with told(path):
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            connection.execute("pragma synchronous = full")
            connection.execute("pragma foreign_keys = on")
            _check_layout(path, connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _check_layout(path: Path, connection: sqlite3.Connection) -> None:
    """Create the tables of a new file; check that another file has ours."""
    known = connection.execute("pragma application_id").fetchone()[0]
    if known != APPLICATION:
        with transaction(connection):
            if connection.execute("select count(*) from sqlite_schema").fetchone()[0] == 0:
                for statement in TABLES:
                    connection.execute(statement)
                connection.execute(f"pragma application_id = {APPLICATION}")
                connection.execute(f"pragma user_version = {VERSION}")
        # Another process may have created the tables first.
        known = connection.execute("pragma application_id").fetchone()[0]
    version = connection.execute("pragma user_version").fetchone()[0]
    if known != APPLICATION:
        raise StoreError(f"'{path}' is a database, but not one of results")
    if version != VERSION:
        raise StoreError(f"'{path}' has layout {version}; this version reads layout {VERSION}")
    _check_types(path, connection)


def _check_types(path: Path, connection: sqlite3.Connection) -> None:
    """Check that each value has the type of its column, since SQLite keeps any value."""
    for table in NAMES:
        columns = connection.execute(f'pragma table_info("{table}")').fetchall()
        # Some versions of SQLite write a type in capitals.
        kinds = {column: TYPES.get(kind.lower(), "'null'") for _, column, kind, *_ in columns}
        if not kinds:
            raise StoreError(f"'{path}' is damaged: it has no table '{table}'")
        wrong = (f'typeof("{column}") not in ({kind})' for column, kind in kinds.items())
        asked = f'select 1 from "{table}" where {" or ".join(wrong)} limit 1'
        if connection.execute(asked).fetchone() is not None:
            raise StoreError(f"'{path}' is damaged: a value in '{table}' is of another type")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Do everything inside or nothing, whatever interrupts it."""
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        # SQLite may have rolled back by itself, and on a full disk that fails as well. Then the
        # next process that opens the file finds its journal.
        with suppress(sqlite3.Error):
            connection.execute("rollback")
        raise


@contextmanager
def told(path: Path) -> Generator[None]:
    """Translate errors of SQLite into words for the user."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_words(path, error)) from error
    except UnicodeDecodeError as error:  # SQLite's message quotes a part of a file that is not text
        raise StoreError(f"'{path}' is damaged: what it says of itself is no text") from error


@contextmanager
def well_formed(path: Path) -> Generator[None]:
    """Report in words for the user that a row does not have dtpoly's form."""
    try:
        yield
    except (ValueError, TypeError, LookupError, RecursionError, zlib.error) as error:
        why = f"a row of it is not of the form that dtpoly writes ({error})"
        raise StoreError(f"'{path}' is damaged: {why}") from error


def _words(path: Path, error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
        why = "the disk is full" if name == "SQLITE_FULL" else "the disk is full or damaged"
        return f"cannot write to '{path}': {why}; all that was stored before is kept"
    if name == "SQLITE_NOTADB":
        return f"'{path}' is not a file of results"
    if name.startswith("SQLITE_CORRUPT"):
        return f"'{path}' is damaged: {error}"
    if name.startswith("SQLITE_BUSY"):
        return f"another process has been writing to '{path}' for {PATIENCE:.0f} seconds"
    if name.startswith("SQLITE_READONLY"):
        return f"cannot write to '{path}': it is read-only"
    if name.startswith("SQLITE_CANTOPEN"):
        return f"cannot open '{path}': there is no such folder, or it may not be written to"
    return f"'{path}': {error}"
