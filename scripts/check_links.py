#!/usr/bin/env python3
"""Links between the pages of this repository lead somewhere: the file is there, and the heading after a #.

usage: check_links.py FOLDER
"""
import os
import re
import sys

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


def headings(path):
    """The anchors that GitHub gives to the headings of a page."""
    names = []
    for line in re.sub(r"```.*?```", "", open(path, encoding="utf-8").read(), flags=re.S).splitlines():
        if not line.startswith("#"):
            continue
        name = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
        names.append(name if name not in names else f"{name}-{names.count(name)}")
    return names


def pages(folder):
    for root, folders, files in os.walk(folder):
        folders[:] = [one for one in folders if one not in ("build", ".git")]
        for name in files:
            if name.endswith(".md"):
                yield os.path.join(root, name)


def broken(page):
    """Each link of a page that leads nowhere, with the reason."""
    text = CODE.sub("", open(page, encoding="utf-8").read())
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(path):
            yield target, "there is no such file"
        elif anchor and path.endswith(".md") and anchor not in headings(path):
            yield target, "there is no such heading"


def main():
    found = [(page, *one) for page in sorted(pages(sys.argv[1])) for one in broken(page)]
    for page, target, why in found:
        print(f"{page}: {target}: {why}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
