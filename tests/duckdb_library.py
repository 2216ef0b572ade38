"""Where tests find libduckdb.so, which script/setup --duckdb or --full installs."""
import ctypes
import os
from pathlib import Path

MISSING = "no libduckdb.so (script/setup --duckdb): what needs it is left out"


def find():
    """Its path, or None."""
    root = Path(__file__).resolve().parents[1]
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.environ.get("HOME", "/"), ".local/share")
    places = [os.environ.get("TACIT_DUCKDB") or None, *root.glob("build*-duckdb/libduckdb.so"), Path(data) / "tacit/libduckdb.so"]
    return next((str(place) for place in places if place and os.path.exists(place)), None)


def run(path, text):
    """A statement by the library at the path, in a database of its own."""
    library, database, connection, result = ctypes.CDLL(path), ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_uint64 * 8)()
    library.duckdb_open(None, ctypes.byref(database))
    library.duckdb_connect(database, ctypes.byref(connection))
    if library.duckdb_query(connection, text.encode(), ctypes.byref(result)) != 0:
        raise RuntimeError("DuckDB does not run " + text)
    library.duckdb_disconnect(ctypes.byref(connection))
    library.duckdb_close(ctypes.byref(database))
