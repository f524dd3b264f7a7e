#!/usr/bin/env python3
"""Writes docs/evidence.md from results of `forebay bench`.

usage: evidence.py [--remark TEXT] RESULTS.jsonl... > docs/evidence.md       (./dev bench evidence does both)

The remark stands at the top: what a reader must know of how the figures were taken. A round that failed is named, and
the others count; what is missing is said.
"""
import datetime
import json
import statistics
import sys

ABOUT = """Made by `./dev bench evidence`, which runs the ready workloads (bench/workloads) and writes this page. Each round was \
prepared and checked natively; every element read and left at home was compared. `raw` is the rate inside the transfers, `observed` \
that of all the program waited for its files (creating, opening, closing and making the buffer included), `total` the time until \
everything is home. Medians of the rounds with half the distance between least and most. `faster` compares what was waited with \
native; in brackets, where the rounds of the two meet, it says nothing."""


def read(paths):
    """Runs, ends, workloads by name, and results by workload and way."""
    runs, ends, workloads, results = [], [], {}, {}
    for path in paths:
        for line in open(path):
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # a run that was killed leaves half a line
            if entry["kind"] == "run":
                runs.append(entry)
            elif entry["kind"] == "end":
                ends.append(entry)
            elif entry["kind"] == "workload":
                workloads[entry["workload"]] = entry
            elif entry["kind"] == "result":
                results.setdefault((entry["workload"], entry["way"]), []).append(entry)
    return runs, ends, workloads, results


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def spread(values, unit=1.0):
    values = [value / unit for value in values]
    middle = statistics.median(values)
    half = (max(values) - min(values)) / 2 / middle * 100 if middle else 0
    return f"{number(middle)} ±{half:.0f} %" if half >= 0.5 else number(middle)


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
            return [title, self.name, f"**{why['status']}**: {why['error']}", "", "", "", "", ""]
        total = [a + b for a, b in zip(self.times("total"), self.times("tail"))]
        homes = [entry["home"]["reads"] + entry["home"]["writes"] for entry in self.good if "home" in entry]
        times, meet = self.against(first)
        checked = all(entry["verified_bytes"] > 0 for entry in self.good)
        return [title, self.name, spread([e["rates"]["raw"] for e in self.good], 1e6),
                spread([e["rates"]["observed"] for e in self.good], 1e6), spread(total),
                f"{statistics.median(homes):.0f}" if homes else "",
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
    for other in dict.fromkeys(way for member in members for way in member["ways"][1:]):
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


def facts(runs, ends, results):
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


def main():
    arguments = sys.argv[1:]
    remark = ""
    if arguments[0] == "--remark":
        remark, arguments = arguments[1], arguments[2:]
    runs, ends, workloads, results = read(arguments)
    ways = {name: [Way(way, results.get((name, way), [])) for way in workload["ways"]]
            for name, workload in workloads.items()}
    print("# Evidence\n")
    if remark:
        print(f"**{remark}**\n")
    print(ABOUT + "\n")
    facts(runs, ends, results)
    groups = {}
    for name, workload in workloads.items():
        groups.setdefault(workload.get("group") or workload.get("title") or name, []).append(workload)
    for group, members in groups.items():
        print(f"\n## {group[0].upper() + group[1:]}\n")
        for sentence in dict.fromkeys(m["published"] for m in members if m.get("published")):
            print(f"Published: {sentence.rstrip('.')}.\n")
        shape(members, ways)
        rows = []
        for member in members:
            own = ways[member["workload"]]
            rows += [way.row((member["title"] or member["workload"]) if i == 0 else "", own[0] if i else None) for i, way in enumerate(own)]
        table(rows, ["workload", "way", "raw MB/s", "observed MB/s", "total s", "requests to home", "faster", "verified"])
        for member in members:
            iterations(member, ways[member["workload"]])


main()
