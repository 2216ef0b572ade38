#!/usr/bin/env python3
"""MNIST's four idx files to LIBSVM text: examples/mnist_rows.py [--straighten] FOLDER [OUT], plain, .gz or .xz, to
OUT/mnist.svm and OUT/mnist.test.svm. Pixels are divided by 255. For docs/methods/dpsgd.md.

--straighten: each digit is sheared until the moments of its own ink say that it stands upright. What becomes of a row
depends on that row alone, so its owner can do it before any training, and it costs no privacy.
"""
import gzip
import lzma
import math
import pathlib
import struct
import sys


def read_idx(folder, name):
    """The shape and the bytes of an idx file."""
    for suffix, opener in (("", open), (".gz", gzip.open), (".xz", lzma.open)):
        path = folder / (name + suffix)
        if path.exists():
            with opener(path, "rb") as file:
                data = file.read()
            shape = struct.unpack(f">{data[3]}I", data[4:4 + 4 * data[3]])
            return shape, data[4 + 4 * data[3]:]
    sys.exit(f"{folder}: no {name}, plain, .gz or .xz")


def straighten(row, width):
    """Numbers in place of the pixels (a list of bytes): each line moved sideways by its height times the slant."""
    lines = [row[at:at + width] for at in range(0, len(row), width)]
    ink = [(x, y, value) for y, line in enumerate(lines) for x, value in enumerate(line) if value]
    total = sum(value for _, _, value in ink)
    middle_x = sum(x * value for x, _, value in ink) / total
    middle_y = sum(y * value for _, y, value in ink) / total
    across = sum((x - middle_x) * (y - middle_y) * value for x, y, value in ink)
    down = sum((y - middle_y) ** 2 * value for _, y, value in ink)
    slant, out = (across / down if down > 0 else 0), []
    for y, line in enumerate(lines):
        shift = slant * (y - middle_y)
        whole = math.floor(shift)
        part, padded = shift - whole, {x: value for x, value in enumerate(line) if value}
        out.extend((1 - part) * padded.get(x + whole, 0) + part * padded.get(x + whole + 1, 0) for x in range(width))
    return out


def main():
    words = [word for word in sys.argv[1:] if word != "--straighten"]
    upright = len(words) < len(sys.argv) - 1
    if not 1 <= len(words) <= 2:
        sys.exit(__doc__)
    folder, out = pathlib.Path(words[0]), pathlib.Path(words[1] if len(words) > 1 else ".")
    for part, name in (("train", "mnist.svm"), ("t10k", "mnist.test.svm")):
        (count, height, width), pixels = read_idx(folder, f"{part}-images-idx3-ubyte")
        _, labels = read_idx(folder, f"{part}-labels-idx1-ubyte")
        size = height * width
        with open(out / name, "w", encoding="ascii") as file:
            for i in range(count):
                row = pixels[i * size:(i + 1) * size]
                if upright:
                    row = straighten(row, width)
                numbers = [f"{j + 1}:{value / 255:.6g}" for j, value in enumerate(row) if value]
                file.write(f"{labels[i]} {' '.join(numbers)}\n")


main()
