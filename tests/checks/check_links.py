#!/usr/bin/env python3
"""Checks that every relative link in the project's Markdown files leads to a file, and every anchor
to a heading of it. Prints what does not; exits with 1 if anything does not."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def anchor(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def problem_with(page, target):
    path, _, fragment = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return "leads nowhere"
    if not fragment:
        return None
    anchors = {anchor(heading) for heading in HEADING.findall(file.read_text())}
    return None if fragment in anchors else f"names no heading of {path or page.name}"


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout.split()
    failed = False
    for page in map(ROOT.joinpath, listed):
        for target in LINK.findall(page.read_text()) if page.exists() else []:
            problem = None if "://" in target else problem_with(page, target)
            if problem:
                print(f"{page.relative_to(ROOT)}: link {target} {problem}")
                failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
