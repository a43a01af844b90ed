#!/usr/bin/env python3
"""200 simulated participants run whole studies over HTTP: durable answers per second, how long each took, memory.

usage: bench/serve.py [--seconds 20] [--participants 200] [--store FILE.db | postgres://...]; MELICIT_BUILD names the build."""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

from figures import record

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALM_PAUSE, CALM_VARIES = 0.35, 0.5
BUILD = pathlib.Path(os.environ.get("MELICIT_BUILD", ROOT / "build")).resolve()


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS") or line.startswith("VmHWM")}


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(folder, store):
    server = subprocess.Popen([BUILD / "melicit", "serve", "--port", "0", "--json", "--store", store, "--trust-proxy", "127.0.0.1"], cwd=folder,
                              stdout=subprocess.PIPE, text=True)
    text = ""
    while True:
        line = server.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        text += line
        try:
            return server, json.loads(text)["port"]
        except ValueError:
            continue


def measure(args, folder, server, port, think, study_file):
    made = subprocess.run([BUILD / "melicit", "study", "create", study_file, "--store", args.store, "--json"], cwd=folder,
                          check=True, capture_output=True, text=True)
    before = processor_seconds(server.pid)
    done = subprocess.run([BUILD / "bench_serve", str(port), json.loads(made.stdout)["id"], str(args.participants),
                           str(args.seconds), str(think)], check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    told["server_ms_per_answer"] = round(1000 * (processor_seconds(server.pid) - before) / max(told["answers"], 1), 3)
    told["memory_mb"] = round(resident(server.pid)["VmHWM"], 1)
    return told


def run(args, folder, what, think):
    server, port = start(folder, args.store)
    try:
        told = measure(args, folder, server, port, think, args.study)
    finally:
        server.terminate()
        code = server.wait(30)
    assert code == 0
    print(f"{what}: {told['per_second']} durable answers/s, p50 {told['p50_ms']} ms, p99 {told['p99_ms']} ms, worst "
          f"{told['worst_ms']} ms, {told['studies']} studies finished, {told['failures']} failures, {told['put_off']} times put off while joining, server "
          f"{told['server_ms_per_answer']} ms of processor per answer, memory {told['memory_mb']} MB", flush=True)
    return told


def misses(fast, calm):
    """The rate and the time that an answer takes are one target, judged in one run; more load than that is there to see the limit."""
    limits = [(calm["per_second"] >= 500, f"500 answers/s: {calm['per_second']}"), (calm["p99_ms"] < 250, f"p99 below 250 ms: {calm['p99_ms']}")]
    for told in (fast, calm):
        limits += [(told["memory_mb"] < 200, f"200 MB: {told['memory_mb']}"), (told["failures"] == 0, f"no failures: {told['failures']}")]
    return [words for met, words in limits if not met]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--participants", type=int, default=200)
    parser.add_argument("--store", default="bench.db")
    parser.add_argument("--study", default="cancer")
    args = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        fast = run(args, folder, f"{args.participants} participants as fast as they can", 0)
        # What a person notices at the rate asked for; the pause leaves room for the time that answers take.
        calm = run(args, folder, f"{args.participants} participants who think for {CALM_PAUSE} s, up to a half more or less",
                   f"{CALM_PAUSE}:{CALM_VARIES}")
        # Nobody does that: all begin in the same moment, think for the same time and want their result in the same moment.
        run(args, folder, f"{args.participants} participants who think for {CALM_PAUSE} s, in step", CALM_PAUSE)
    missed = misses(fast, calm)
    record("server: durable answers, 200 participants",
           f"{calm['per_second']} a second, {calm['p99_ms']} ms, {calm['memory_mb']} MB", not missed)
    if missed:
        raise SystemExit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
