#!/usr/bin/env python3
"""Paillier with plain Python integers, written from the formulas, to check the C code against.

    tests/crypto/paillier_reference.py > tests/crypto/paillier_vectors.h

The primes are the first safe primes at or above fixed points, the plaintexts and randomness fixed numbers and hashes,
so that every run prints the same. Numbers are printed in hexadecimal. No function of the library is used.
"""
import hashlib

LABEL = b"tacit paillier generator 1\0"


def probably_prime(m):
    if any(m % r == 0 for r in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)):
        return False
    d, s = m - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for base in range(2, 40):
        x = pow(base, d, m)
        if x in (1, m - 1):
            continue
        for _ in range(s - 1):
            x = x * x % m
            if x == m - 1:
                break
        else:
            return False
    return True


def safe_prime_from(start):
    q = start // 2 | 1
    while True:
        if all(q % r and (2 * q + 1) % r for r in (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)):
            if pow(2, q - 1, q) == 1 and probably_prime(q) and probably_prime(2 * q + 1):
                return 2 * q + 1
        q += 2


def number(name, bits):
    """A number of exactly this many pseudo-random bits, the two highest set."""
    digest = hashlib.shake_256(name.encode()).digest(bits // 8)
    return int.from_bytes(digest, "big") | 3 << (bits - 2)


def stretch(n, bits):
    data, out = n.to_bytes(bits // 8, "little"), b""
    counter = 0
    while len(out) < bits // 8 + 16:
        out += hashlib.blake2b(LABEL + bytes([counter]) + data).digest()
        counter += 1
    return int.from_bytes(out[:bits // 8 + 16], "little") % n


def case(bits):
    p, q = (safe_prime_from(number(f"{name} {bits}", bits // 2)) for name in "pq")
    n = p * q
    square = n * n
    h = pow(-pow(stretch(n, bits), 2, n) % n, n, square)
    random_bits = 448 if bits < 3072 else 512
    messages = [0, 1, -1, n // 2, -(n // 2), 123456789, -2**63, number("message", bits - 8) % n]
    lines = []
    for i, message in enumerate(messages):
        m = message % n
        r = number(f"r {i} {bits}", random_bits)
        s = number(f"s {i} {bits}", bits - 2) % n
        r = {0: 0, 1: 2**random_bits - 1}.get(i, r)
        short = (1 + m * n) * pow(h, r, square) % square
        classic = pow(1 + n, m, square) * pow(s, n, square) % square
        lines.append((m, r, short, s, classic))
    fingerprint = hashlib.blake2b(b"TPPK" + bits.to_bytes(4, "little") + n.to_bytes(bits // 8, "little"), digest_size=32)
    return bits, p, q, fingerprint.hexdigest(), lines


def text(value, indent):
    """A hexadecimal number as C string literals of at most 96 characters a line."""
    digits = f"{value:x}" if isinstance(value, int) else value
    parts = [digits[i:i + 96] for i in range(0, len(digits), 96)]
    return ("\n" + " " * indent).join(f'"{part}"' for part in parts)


def main():
    print("/* Made by paillier_reference.py with plain integers; do not edit. */\n#pragma once\n\n/* clang-format off */")
    print("typedef struct paillier_vector { const char *m, *r, *short_c, *s, *classic_c; } paillier_vector;")
    print("typedef struct paillier_case { unsigned bits; const char *p, *q, *fingerprint; paillier_vector vector[8]; }"
          " paillier_case;\n")
    print("static const paillier_case paillier_cases[] = {")
    for bits, p, q, fingerprint, lines in (case(256), case(2048)):
        print(f"  {{ {bits}, {text(p, 4)},\n    {text(q, 4)},\n    {text(fingerprint, 4)}, {{")
        for line in lines:
            print("      { " + ",\n        ".join(text(value, 8) for value in line) + " },")
        print("    } },")
    print("};\n/* clang-format on */")


main()
