"""Where tests find libduckdb.so, which script/setup --duckdb or --full installs."""
import os
from pathlib import Path

MISSING = "no libduckdb.so (script/setup --duckdb): what needs it is left out"


def find():
    """Its path, or None."""
    root = Path(__file__).resolve().parents[1]
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.environ.get("HOME", "/"), ".local/share")
    places = [os.environ.get("TACIT_DUCKDB") or None, *root.glob("build*-duckdb/libduckdb.so"), Path(data) / "tacit/libduckdb.so"]
    return next((str(place) for place in places if place and os.path.exists(place)), None)
