#!/usr/bin/env python3
"""Writes docs/evidence.md from results of `forebay bench`.

usage: evidence.py [--remark TEXT] RESULTS.jsonl... > docs/evidence.md       (./dev bench evidence does both)

The remark stands at the top: what a reader must know of how the figures were taken.
"""
import json
import statistics
import sys


def read(paths):
    runs, workloads, results = [], {}, {}
    for path in paths:
        for line in open(path):
            entry = json.loads(line)
            if entry["kind"] == "run":
                runs.append(entry)
            elif entry["kind"] == "workload":
                workloads[entry["workload"]] = entry
            elif entry["kind"] == "result":
                results.setdefault((entry["workload"], entry["way"]), []).append(entry)
    return runs, workloads, results


def spread(values, unit=1.0):
    values = [value / unit for value in values]
    middle = statistics.median(values)
    half = (max(values) - min(values)) / 2 / middle * 100 if middle else 0
    number = f"{middle:.0f}" if middle >= 100 else f"{middle:.3g}"
    return f"{number} ±{half:.0f} %" if half >= 0.5 else number


def column(rounds, *keys):
    values = []
    for entry in rounds:
        for key in keys:
            entry = entry.get(key, {})
        values.append(entry)
    return values


def row(name, way, rounds, first):
    wrong = [entry for entry in rounds if entry["status"] != "ok"]
    if wrong:
        return f"| {name} | {way} | **{wrong[0]['status']}**: {wrong[0]['error']} | | | | | |"
    waited = statistics.median(column(rounds, "times", "observed"))
    total = [e["times"]["total"] + e["times"]["tail"] for e in rounds]
    faster = f"{first / waited:.2f}" if first else ""
    requests = column(rounds, "home")
    count = statistics.median(e["reads"] + e["writes"] for e in requests) if requests[0] else ""
    return "| " + " | ".join([name, way, spread(column(rounds, "rates", "raw"), 1e6),
                              spread(column(rounds, "rates", "observed"), 1e6), spread(total),
                              f"{count:.0f}" if count != "" else "", faster,
                              "yes" if all(e["verified_bytes"] > 0 for e in rounds) else "no"]) + " |"


def iterations(workload, results):
    names = [i["name"] for i in next(iter(results.values()))[0].get("iterations", [])]
    if workload["kernel"] != "dlio" or len(names) < 2:
        return
    print(f"\nMB/s of each epoch, {workload['title']}:\n")
    print("| way | " + " | ".join(names) + " |")
    print("| --- |" + " --- |" * len(names))
    for way, rounds in results.items():
        if any(entry["status"] != "ok" for entry in rounds):
            continue
        rates = [[e["iterations"][i]["bytes"] / e["iterations"][i]["seconds"] for e in rounds] for i in range(len(names))]
        print(f"| {way} | " + " | ".join(spread(one, 1e6) for one in rates) + " |")


def main():
    arguments = sys.argv[1:]
    remark = ""
    if arguments[0] == "--remark":
        remark, arguments = arguments[1], arguments[2:]
    runs, workloads, results = read(arguments)
    first = runs[0]
    home = first["home"]
    print("# Evidence\n")
    if remark:
        print(f"**{remark}**\n")
    print("Made by `./dev bench evidence`, which runs the ready workloads (bench/workloads) and writes this page. Each round was"
          " prepared and checked natively; every element read and left at home was compared. `raw` is the rate inside the"
          " transfers, `observed` that of all the program waited for its files (creating, opening, closing and making the buffer"
          " included), `total` the time until everything is home. Medians of the rounds with half the distance between least and"
          " most. `faster` compares what was waited with native.\n")
    machine, software = first["machine"], first["software"]
    rounds = sorted({len(entry) for entry in results.values()})
    print(f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_bytes'] / 2**30:.0f} GiB, {machine['kernel']}; HDF5"
          f" {software['hdf5']}, {software['mpi']}; home: {home['file_system']}, {home['write_bandwidth'] / 1e6:.0f} MB/s for"
          f" writing, {home['read_bandwidth'] / 1e6:.0f} MB/s for reading, {home['latency_ns'] / 1e6:g} ms; commit"
          f" {first['commit']}, {first['started'][:10]}; rounds: {', '.join(map(str, rounds))}.")
    groups = {}
    for name, workload in workloads.items():
        groups.setdefault(workload.get("group", name), []).append(workload)
    for group, members in groups.items():
        print(f"\n## {group[0].upper() + group[1:]}\n")
        for sentence in dict.fromkeys(m["published"] for m in members if m.get("published")):
            print(f"Published: {sentence}.\n")
        print("| workload | way | raw MB/s | observed MB/s | total s | requests to home | faster | verified |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for workload in members:
            baseline = None
            for i, way in enumerate(workload["ways"]):
                entries = results.get((workload["workload"], way), [])
                if not entries:
                    continue
                print(row(workload["title"] if i == 0 else "", way, entries, baseline))
                if i == 0 and all(e["status"] == "ok" for e in entries):
                    baseline = statistics.median(column(entries, "times", "observed"))
        for workload in members:
            iterations(workload, {w: results[(workload["workload"], w)] for w in workload["ways"]
                                  if (workload["workload"], w) in results})


main()
