#!/usr/bin/env python3
"""Write files as a C table, so that the program carries them: embed.py OUT PATH=FILE..."""
import sys
from pathlib import Path

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".yaml": "application/yaml"}


def array(number, data):
    lines = [",".join(map(str, data[at:at + 32])) for at in range(0, len(data), 32)]
    return f"static const unsigned char file_{number}[] = {{\n" + ",\n".join(lines) + "\n};\n"


def main(out, *entries):
    arrays, table = [], []
    for number, entry in enumerate(entries):
        path, _, name = entry.partition("=")
        data = Path(name).read_bytes()
        arrays.append(array(number, data))
        table.append(f'    {{ "{path}", "{TYPES[Path(name).suffix]}", file_{number}, {len(data)} }},\n')
    Path(out).write_text('#include "web/web_files.h"\n\n' + "\n".join(arrays) +
                         "\nconst web_file web_files[] = {\n" + "".join(table) + "    { NULL, NULL, NULL, 0 },\n};\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
