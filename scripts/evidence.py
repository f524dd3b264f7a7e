#!/usr/bin/env python3
"""Writes docs/evidence.md from results of `forebay bench`.

usage: evidence.py [--remark TEXT] RESULTS.jsonl... > docs/evidence.md       (./dev bench evidence does both)
       evidence.py --workloads          names of the ready workloads that the page is made of
       evidence.py --check [PAGE]       is the page of the workloads as they are now?

The remark stands at the top: what a reader must know of how the figures were taken. A round that failed is named, and
the others count; what is missing is said. Results with a way `null` show what the kernels themselves cost; those that
have only the way that it is compared with beside it show nothing else.
"""
import datetime
import hashlib
import json
import pathlib
import re
import statistics
import sys

WORKLOADS = ["ratio", "streaming", "vpic", "layouts", "dims", "chunks", "hermes", "applications"]
CHECKOUT = pathlib.Path(__file__).resolve().parent.parent

ABOUT = """Made by `./dev bench evidence`, which runs the ready workloads (bench/workloads) and writes this page. Each round was \
prepared and checked natively; every element read and left at home was compared. `raw` is the rate inside the transfers, `observed` \
that of all the program waited for its files (creating, opening, closing and making the buffer included), `total` the time until \
everything is home. Requests to home are reads and writes; `others` carry no data (open, close, lookup, query, change, fsync). Medians of the rounds with half the distance between least and most. `faster` compares what was waited with \
native; in brackets, where the rounds of the two meet, it says nothing."""


# What must be said beside the table of a group.
NOTES = {
    "layouts": """The amounts differ (they are in the titles), because IC would take hours with those of the others: compare \
the ways of one layout, not the layouts. Here the slowest is IC, not CI: where memory is interleaved and the file is not, \
nothing is converted, and HDF5 hands each element of memory on by itself, four bytes a request. Where the file is interleaved \
(CI) it converts, in a buffer of 1 MiB, and writes that in one piece.""",
}


class Results:
    """Runs, ends, workloads by name, and results by workload and way."""

    def __init__(self):
        self.runs, self.ends, self.workloads, self.results = [], [], {}, {}

    def take(self, entry):
        if entry["kind"] == "run":
            self.runs.append(entry)
        elif entry["kind"] == "end":
            self.ends.append(entry)
        elif entry["kind"] == "workload":
            self.workloads[entry["workload"]] = entry
        elif entry["kind"] == "result":
            self.results.setdefault((entry["workload"], entry["way"]), []).append(entry)

    def ways(self, name):
        return [Way(way, self.results.get((name, way), [])) for way in self.workloads[name]["ways"]]

    def measured_ways(self, name):
        return [way for way in self.ways(name) if way.name != "null"]


def read(paths):
    """The results that the page is of, and those with a null target."""
    measured, null = Results(), Results()
    for path in paths:
        entries = []
        for line in pathlib.Path(path).read_text().splitlines():
            try:
                entries.append(json.loads(line))
            except ValueError:
                continue  # a run that was killed leaves half a line
        ways = [entry["ways"] for entry in entries if entry["kind"] == "workload"]
        for entry in entries:
            if any("null" in some for some in ways):
                null.take(entry)
            if not ways or any("null" not in some or len(some) > 2 for some in ways):
                measured.take(entry)
    return measured, null


def workload_file(name):
    return CHECKOUT / "bench" / "workloads" / f"{name}.json"


def fingerprint():
    """Of the workloads' files, as the page states it."""
    together = hashlib.sha256()
    for name in WORKLOADS:
        together.update(workload_file(name).read_bytes())
    return together.hexdigest()[:16]


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def spread(values, unit=1.0):
    values = [value / unit for value in values]
    middle = statistics.median(values)
    half = (max(values) - min(values)) / 2 / middle * 100 if middle else 0
    return f"{number(middle)} ±{half:.0f} %" if half >= 0.5 else number(middle)


# Of slowfs, requests that carry no data.
OTHERS = ["opens", "closes", "lookups", "queries", "changes", "fsyncs"]
MOST_OWN = 0.02  # of what a program waits, a kernel's own part


class Way:
    """The rounds of one workload in one way."""

    def __init__(self, name, rounds):
        self.name = name
        self.good = [entry for entry in rounds if entry["status"] == "ok"]
        self.bad = [entry for entry in rounds if entry["status"] != "ok"]
        self.wrong = any(entry["status"] == "wrong_bytes" for entry in rounds)

    def usable(self):
        return bool(self.good) and not self.wrong

    def times(self, name):
        return [entry["times"].get(name, 0) for entry in self.good]

    def waited(self):
        return statistics.median(self.times("observed"))

    def against(self, first):
        """How much less this one waited than the first, and whether their rounds meet."""
        if first is None or not first.usable() or not self.usable() or not self.waited():
            return None, False
        mine, other = self.times("observed"), first.times("observed")
        return first.waited() / self.waited(), min(mine) <= max(other) and min(other) <= max(mine)

    def row(self, title, first):
        if not self.usable():
            why = self.bad[0] if self.bad else {"status": "missing", "error": "no round was run"}
            return [title, self.name, f"**{why['status']}**: {why['error']}", "", "", "", "", "", ""]
        total = [a + b for a, b in zip(self.times("total"), self.times("tail"))]
        homes = [entry["home"]["reads"] + entry["home"]["writes"] for entry in self.good if "home" in entry]
        others = [sum(entry["home"].get(kind, 0) for kind in OTHERS) for entry in self.good if "home" in entry]
        times, meet = self.against(first)
        checked = all(entry["verified_bytes"] > 0 for entry in self.good)
        return [title, self.name, spread([e["rates"]["raw"] for e in self.good], 1e6),
                spread([e["rates"]["observed"] for e in self.good], 1e6), spread(total),
                f"{statistics.median(homes):.0f}" if homes else "",
                f"{statistics.median(others):.0f}" if any(others) else "",
                "" if times is None else f"({times:.2f})" if meet else f"{times:.2f}",
                ("yes" if checked else "no") + (f"; {len(self.bad)} failed" if self.bad else "")]


def table(rows, head):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def iterations(workload, ways):
    """The rate of each epoch: what papers on streaming reads show."""
    usable = [way for way in ways if way.usable()]
    names = [one["name"] for one in usable[0].good[0].get("iterations", [])] if usable else []
    if workload["kernel"] != "dlio" or len(names) < 2:
        return
    print(f"\nMB/s of each epoch, {workload['title']}:\n")
    table([[way.name] + [spread([e["iterations"][i]["bytes"] / e["iterations"][i]["seconds"] for e in way.good], 1e6)
                         for i in range(len(names))] for way in usable], ["way", *names])


def shape(members, ways):
    """What the table beneath shows, in a sentence made of its figures."""
    for other in dict.fromkeys(way.name for member in members for way in ways[member["workload"]][1:]):
        parts = []
        for member in members:
            by_name = {way.name: way for way in ways[member["workload"]]}
            first = by_name.get(member["ways"][0])
            times, meet = by_name[other].against(first) if other in by_name else (None, False)
            if times is not None:
                figure = f"({times:.2f})" if meet else f"{times:.2f}"
                parts.append(f"{figure} at {member['x']}" if "x" in member else f"{figure} in {member['title']}")
        if parts:
            print(f"Here, {other} beside {members[0]['ways'][0]}, times as fast: {', '.join(parts)}.\n")


def own_share(null, first):
    """The kernel's own part of what the program waited: calls that do nothing, and what lies between them."""
    if not null.usable() or not first.usable() or not first.waited():
        return None
    return (statistics.median(null.times("raw")) + statistics.median(null.times("own"))) / first.waited()


def own_cost(found):
    rows = []
    for name, workload in found.workloads.items():
        ways = {way.name: way for way in found.ways(name)}
        share = own_share(ways["null"], ways[workload["ways"][0]]) if "null" in ways else None
        rows.append([workload["title"] or name, workload["kernel"], "no result" if share is None
                     else f"**{share * 100:.2f} %**" if share > MOST_OWN else f"{share * 100:.2f} %"])
    if not rows:
        return
    print("\n## Own cost\n")
    print("What the kernels cost by themselves, as a part of what the program waited for its files natively: with a target that "
          "transfers nothing, the time in calls that do nothing and between them. The goal is 2 % at most; more is set in bold.\n")
    table(rows, ["workload", "kernel", "own part"])


def facts(found):
    runs, ends, results = found.runs, found.ends, found.results
    first = runs[0]
    machine, software, home = first["machine"], first["software"], first["home"]
    place = home["file_system"]
    if "write_bandwidth" in home:
        place += (f", {home['write_bandwidth'] / 1e6:.0f} MB/s for writing, {home['read_bandwidth'] / 1e6:.0f} MB/s for"
                  f" reading, {home['latency_ns'] / 1e6:g} ms")
    rounds = ", ".join(map(str, sorted({len(entry) for entry in results.values()})))
    words = [f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_bytes'] / 2**30:.0f} GiB, {machine['kernel']}",
             f"HDF5 {software['hdf5']}, {software['mpi']}", f"home: {place}",
             f"commit {first['commit']}, {first['started'][:10]}", f"rounds: {rounds}"]
    if "load" in machine:
        words.append(f"load average when it began: {machine['load']:.1f}")
    if ends:
        begin, end = (datetime.datetime.fromisoformat(one.replace("Z", "+00:00"))
                      for one in (first["started"], ends[-1]["finished"]))
        words.append(f"it took {(end - begin).total_seconds() / 60:.0f} minutes")
    print("; ".join(words) + ".")
    if not ends or any(end["status"] != "complete" for end in ends):
        print("\n**The run was interrupted: what it had until then.**")


STATED = re.compile(r"<!-- workloads: ([0-9a-f]+) -->")


def wanted_rows():
    """(title, way) of all that the workloads' files ask for."""
    for name in WORKLOADS:
        suite = json.loads(workload_file(name).read_text())
        for one in suite["benchmarks"]:
            for way in one.get("compare", suite.get("compare", ["native", "forebay"])):
                yield one["title"], way if isinstance(way, str) else way["name"]


def check(text):
    """What is wrong with a page, in sentences. One that states no workloads is older than the question."""
    stated = STATED.search(text)
    if not stated:
        return []
    wrong = []
    if stated.group(1) != fingerprint():
        wrong.append("it is of other workload files than those of bench/workloads")
    rows, title = set(), ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) > 2:
            title = cells[0] or title
            rows.add((title, cells[1]))
    return wrong + [f"there is no row of \"{title}\", {way}" for title, way in wanted_rows() if (title, way) not in rows]


def check_page(path):
    text = path.read_text()
    wrong = check(text)
    for sentence in wrong:
        print(f"{path}: {sentence} (./dev bench evidence writes it anew)", file=sys.stderr)
    if not STATED.search(text):
        print(f"{path}: it does not state its workloads, so it is not compared with them")
    return 1 if wrong else 0


def main():
    arguments = sys.argv[1:]
    remark = ""
    if arguments[0] == "--workloads":
        print(*WORKLOADS)
        return 0
    if arguments[0] == "--check":
        return check_page(pathlib.Path(arguments[1]) if len(arguments) > 1 else CHECKOUT / "docs" / "evidence.md")
    if arguments[0] == "--remark":
        remark, arguments = arguments[1], arguments[2:]
    found, null = read(arguments)
    if not found.runs:
        sys.exit("evidence.py: there are no results beside those with a null target")
    ways = {name: found.measured_ways(name) for name in found.workloads}
    print("# Evidence\n")
    print(f"<!-- workloads: {fingerprint()} -->\n")
    if remark:
        print(f"**{remark}**\n")
    print(ABOUT + "\n")
    facts(found)
    groups = {}
    for name, workload in found.workloads.items():
        groups.setdefault(workload.get("group") or workload.get("title") or name, []).append(workload)
    for group, members in groups.items():
        print(f"\n## {group[0].upper() + group[1:]}\n")
        for sentence in dict.fromkeys(m["published"] for m in members if m.get("published")):
            print(f"Published: {sentence.rstrip('.')}.\n")
        shape(members, ways)
        if group in NOTES:
            print(f"{NOTES[group]}\n")
        rows = []
        for member in members:
            own = ways[member["workload"]]
            rows += [way.row((member["title"] or member["workload"]) if i == 0 else "", own[0] if i else None) for i, way in enumerate(own)]
        table(rows, ["workload", "way", "raw MB/s", "observed MB/s", "total s", "requests to home", "others", "faster", "verified"])
        for member in members:
            iterations(member, ways[member["workload"]])
    own_cost(null)
    return 0


if __name__ == "__main__":
    sys.exit(main())
