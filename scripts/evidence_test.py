#!/usr/bin/env python3
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import evidence


def result(workload, way, observed, **times):
    return {"kind": "result", "workload": workload, "way": way, "round": 1, "status": "ok", "bytes": 1000, "verified_bytes": 1000,
            "times": {"observed": observed, "total": observed, "tail": 0, **times}, "rates": {"raw": 1e6, "observed": 1e6},
            "home": {"reads": 3, "writes": 4, "opens": 5, "closes": 6}}


RUN = {"kind": "run", "started": "2026-11-18T03:40:00Z", "commit": "c", "machine": {"cores": 2, "cpu": "x", "memory_bytes": 2**30,
       "kernel": "k"}, "software": {"hdf5": "1", "mpi": "m"}, "home": {"file_system": "ext4"}}
END = {"kind": "end", "finished": "2026-11-18T03:50:00Z", "status": "complete"}


def workload(name, title, ways, group):
    return {"kind": "workload", "workload": name, "kernel": "write", "title": title, "ways": ways, "group": group}


def page_of(*files):
    """The page of results files, each a list of entries."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, entries in enumerate(files):
            paths.append(pathlib.Path(folder, f"{i}.jsonl"))
            paths[-1].write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        with mock.patch.object(sys, "argv", ["evidence.py", *map(str, paths)]), contextlib.redirect_stdout(io.StringIO()) as out:
            evidence.main()
        return out.getvalue()


# All that the ready workloads ask for.
def everything():
    entries = [RUN]
    for i, (title, way) in enumerate(evidence.wanted_rows()):
        entries += [workload(str(i), title, [way], title), result(str(i), way, 2)]
    return [*entries, END]


class EvidenceTest(unittest.TestCase):
    def test_a_page_of_these_workloads_passes(self):
        self.assertEqual([], evidence.check(page_of(everything())))

    def test_a_page_without_a_workload_or_a_way_is_told(self):
        page = page_of([one for one in everything() if one.get("title") != "1-D arrays"])
        self.assertIn('there is no row of "1-D arrays", native', evidence.check(page))
        page = page_of([one for one in everything() if "forebay, detaching" not in one.get("ways", [])])
        self.assertIn('there is no row of "checkpoints, compute/IO ratio 0", forebay, detaching', evidence.check(page))

    def test_a_page_of_other_workload_files_is_told(self):
        page = page_of(everything()).replace(evidence.fingerprint(), "0123456789abcdef")
        self.assertEqual(["it is of other workload files than those of bench/workloads"], evidence.check(page))

    def test_a_page_that_states_no_workloads_is_not_compared(self):
        self.assertEqual([], evidence.check("# Evidence\n"))

    # The same figures as in the tests of the table and of the report, which must say the same.
    def test_own_cost_is_made_of_the_null_ways_parts(self):
        page = page_of(everything(), [RUN, workload("w", "A write", ["native", "null"], "g"),
                                      result("w", "native", 2), result("w", "native", 4), result("w", "null", 9, raw=0.03, own=0.015),
                                      workload("v", "A dear one", ["native", "null"], "g"),
                                      result("v", "native", 1), result("v", "null", 9, raw=0.03, own=0.015), END])
        self.assertIn("| A write | write | 1.50 % |", page)
        self.assertIn("| A dear one | write | **4.50 %** |", page)
        self.assertEqual([], evidence.check(page))

    def test_a_null_target_beside_others_is_no_way_to_compare(self):
        page = page_of([RUN, workload("w", "A write", ["native", "forebay", "null"], "g"), result("w", "native", 3),
                        result("w", "forebay", 1), result("w", "null", 9, raw=0.03, own=0.015), END])
        self.assertNotIn("| null |", page)
        self.assertIn("| forebay |", page)
        self.assertIn("| A write | write | 1.50 % |", page)

    def test_requests_without_data_are_a_figure_of_their_own(self):
        self.assertRegex(page_of(everything()), r"\| 7 \| 11 \|")


unittest.main()
