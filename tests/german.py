"""A locale whose decimal point is a comma, for tests: made from the sources of the package `locales`, in a folder of one's own.

    german.py COMMAND...    run the command with LOCPATH set, so that setlocale(LC_ALL, "de_DE.UTF-8") finds it

Fails where it cannot be made (script/setup --test installs what is needed): a test that is left out would promise nothing.
"""
import os
import subprocess
import sys
import tempfile

NAME = "de_DE.UTF-8"


def make(folder):
    """Put the locale into the folder, and return the environment in which it is found."""
    done = subprocess.run(["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, NAME)],
                          capture_output=True, text=True)
    if not os.path.isdir(os.path.join(folder, NAME)):
        raise SystemExit(f"the locale {NAME} cannot be made; install the package locales (script/setup --test): {done.stderr}")
    return {**os.environ, "LOCPATH": str(folder)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tacit-locale-") as place:
        sys.exit(subprocess.run(sys.argv[1:], env=make(place)).returncode)
