#!/usr/bin/env python3
"""Run a test program of sources beside a PostgreSQL server, and with DuckDB, where they are there."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import duckdb_library  # noqa: E402
import postgres  # noqa: E402

with tempfile.TemporaryDirectory(prefix="tacit-postgres-") as place:
    wanted = sys.argv[2:] != ["samples"]  # which are files
    connection, stop = postgres.start(Path(place) / "pg") if wanted else (None, "no database is asked for")
    if connection is None:
        print(f"# {stop}", flush=True)
        environment = dict(os.environ)
    else:
        environment = {**os.environ, "TACIT_TEST_POSTGRES": connection}
    duckdb = duckdb_library.find()
    if duckdb is None:
        print(f"# {duckdb_library.MISSING}", flush=True)
    environment["TACIT_DUCKDB"] = duckdb or ""
    try:
        code = subprocess.run(sys.argv[1:], env=environment).returncode
    finally:
        if connection is not None:
            stop()
sys.exit(code)
