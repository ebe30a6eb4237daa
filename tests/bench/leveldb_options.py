#!/usr/bin/env python3
"""What LevelDB's options are worth with the keys and values of the sidecar, as a table.

    tests/bench/leveldb_options.py [--items N] [--rounds N] [--window-ms MS]

Needs raw_leveldb, built (BUILD_DIR, default build/release). One option at a time differs
from those that the sidecar has; all variants are measured in turn, round by round, and a
figure is the median of the ratios to the sidecar's own options in the same round.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

VARIANTS = {
    "as the sidecar (buffer 16, files 16, cache 32 MiB, 10 bits)": [],
    "write buffer 4 MiB": ["--write-buffer-mib", "4"],
    "write buffer 64 MiB": ["--write-buffer-mib", "64"],
    "files of 2 MiB": ["--max-file-mib", "2"],
    "files of 64 MiB": ["--max-file-mib", "64"],
    "block cache 8 MiB": ["--block-cache-mib", "8"],
    "block cache 128 MiB": ["--block-cache-mib", "128"],
    "no bloom filter": ["--bloom-bits", "0"],
}
WORKS = ["write", "read", "delete"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--window-ms", type=int, default=1000)
    return parser.parse_args()


def run(work, directory, arguments):
    binary = pathlib.Path(os.environ.get("BUILD_DIR", "build/release"), "bin/raw_leveldb")
    command = [str(binary), work, "--dir", directory, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-2])


def measure(tuning, options):
    """Items per second of each work, in new databases."""
    window = ["--length-ms", str(options.window_ms)]
    items = ["--items", str(options.items)]
    with tempfile.TemporaryDirectory() as loaded, tempfile.TemporaryDirectory() as written:
        run("load", loaded, items + tuning)
        return {
            "read": run("read", loaded, items + window + tuning),
            "delete": run("delete", loaded, items + ["--batch", "500"] + tuning),
            "write": run("write", written, window + tuning),
        }


def main():
    options = parse()
    ratios = {name: {work: [] for work in WORKS} for name in VARIANTS}
    base_figures = {work: [] for work in WORKS}
    for round_number in range(options.rounds):
        order = list(VARIANTS)
        if round_number % 2:
            order.reverse()
        figures = {name: measure(VARIANTS[name], options) for name in order}
        base = figures[next(iter(VARIANTS))]
        for work in WORKS:
            base_figures[work].append(base[work])
            for name in VARIANTS:
                ratios[name][work].append(figures[name][work] / base[work])
    print(f"| {options.items} items | {' | '.join(WORKS)} |")
    print("| --- |" + " ---: |" * len(WORKS))
    for name in VARIANTS:
        cells = [f"{statistics.median(ratios[name][work]):.2f}" for work in WORKS]
        print(f"| {name} | {' | '.join(cells)} |")
    cells = [f"{statistics.median(base_figures[work]):.0f}/s" for work in WORKS]
    print(f"| 1.00 is | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
