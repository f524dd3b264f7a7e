#!/usr/bin/env python3
import pathlib
import tempfile
import unittest

import check_links


class CheckLinksTest(unittest.TestCase):
    def broken(self, text):
        with tempfile.TemporaryDirectory() as root:
            pathlib.Path(root, "other.md").write_text("# A page\n## What it's `for`\n```\n# no heading\n```\n")
            page = pathlib.Path(root, "page.md")
            page.write_text("# Here\n" + text)
            return [target for target, _ in check_links.broken(str(page))]

    def test_what_is_there_passes(self):
        self.assertEqual([], self.broken("[a](other.md) [b](other.md#what-its-for) [c](#here) [d](https://x.org/y)"))

    def test_a_file_that_is_not_there_is_named(self):
        self.assertEqual(["othr.md"], self.broken("see [it](othr.md)"))

    def test_a_heading_that_is_not_there_is_named(self):
        self.assertEqual(["other.md#no-heading", "#there"], self.broken("[a](other.md#no-heading) [b](#there)"))

    def test_code_has_no_links(self):
        self.assertEqual([], self.broken("`[a](none.md)` and\n```\n[b](none.md)\n```\n"))


unittest.main()
