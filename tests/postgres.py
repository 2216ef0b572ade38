"""A PostgreSQL server of a test's own, on a socket in a folder of its own."""
import glob
import os
import shutil
import subprocess


def start(folder):
    """Its connection and what stops it, or None and why there is none. The folder must not exist."""
    programs = [*glob.glob("/usr/lib/postgresql/*/bin"), os.path.dirname(shutil.which("initdb") or "")]
    place = next((each for each in programs if os.access(os.path.join(each, "pg_ctl"), os.X_OK)), None)
    if place is None:
        return None, "no PostgreSQL server is installed (Debian: postgresql)"
    run = []
    folder.mkdir()
    if os.geteuid() == 0:  # the server refuses to run as root
        if shutil.which("runuser") is None:
            return None, "PostgreSQL does not run as root, and there is no runuser"
        folder.parent.chmod(0o711)
        shutil.chown(folder, "nobody")
        run = ["runuser", "-u", "nobody", "--"]

    def call(program, *words):
        return subprocess.run([*run, os.path.join(place, program), *words], cwd=folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    made = call("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "tacit", "-E", "UTF8", "--no-sync")
    if made.returncode != 0:
        return None, "initdb failed: " + made.stdout.strip().splitlines()[-1]
    started = call("pg_ctl", "-D", str(folder / "data"), "-w", "-l", str(folder / "log"), "-o",
                   f"-k {folder} -c listen_addresses='' -c fsync=off", "start")
    if started.returncode != 0:
        return None, "no PostgreSQL server can be started: " + started.stdout.strip().splitlines()[-1]
    return (f"host={folder} user=tacit dbname=postgres",
            lambda: call("pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "stop"))
