#!/usr/bin/env python3
"""MNIST's four idx files to LIBSVM text: examples/mnist_rows.py FOLDER [OUT], plain, .gz or .xz, to OUT/mnist.svm and
OUT/mnist.test.svm. Pixels are divided by 255. For docs/methods/dpsgd.md."""
import gzip
import lzma
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


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    for part, name in (("train", "mnist.svm"), ("t10k", "mnist.test.svm")):
        (count, height, width), pixels = read_idx(folder, f"{part}-images-idx3-ubyte")
        _, labels = read_idx(folder, f"{part}-labels-idx1-ubyte")
        size = height * width
        texts = [f"{value / 255:.6g}" for value in range(256)]
        with open(out / name, "w", encoding="ascii") as file:
            for i in range(count):
                row = pixels[i * size:(i + 1) * size]
                words = [f"{j + 1}:{texts[value]}" for j, value in enumerate(row) if value]
                file.write(f"{labels[i]} {' '.join(words)}\n")


main()
