#!/usr/bin/env python3
"""Four servers behind haproxy and pgbouncer on one PostgreSQL database, with the files of deploy/, next to one server on SQLite.

1,000 simulated participants; every ten seconds one of the servers is killed (SIGKILL) and started again, and PostgreSQL restarts once. Afterwards
the database must hold every acknowledged answer once. usage: bench/cluster.py [--seconds 40] [--participants 1000] [--think 4]; MELICIT_BUILD names
the build. All participants are at one address: the limits per address are off."""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from figures import record

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("MELICIT_BUILD", ROOT / "build")).resolve()
sys.path.insert(0, str(ROOT / "tests" / "system"))
from cluster import Database, Proxy, free_ports, wait_for  # noqa: E402

SERVERS = 4


def serve(folder, store, port):
    process = subprocess.Popen([BUILD / "melicit", "serve", "--port", str(port), "--json", "--store", store, "--limits", "joins=0", "--limits", "per-address=4000",
                                "--limits", "connections=4000", "--trust-proxy", "127.0.0.1"], cwd=folder, stdout=subprocess.DEVNULL)
    wait_for(port)
    return process


def create(folder, store):
    made = subprocess.run([BUILD / "melicit", "study", "create", "cancer", "--store", store, "--json"], cwd=folder, check=True, capture_output=True, text=True)
    return json.loads(made.stdout)["id"]


def people(args, port, study, *keys):
    return subprocess.Popen([BUILD / "bench_serve", str(port), study, str(args.participants), str(args.seconds), str(args.think), *keys],
                            stdout=subprocess.PIPE, text=True)


def say(what, told):
    print(f"{what}: {told['per_second']} durable answers/s, p50 {told['p50_ms']} ms, p99 {told['p99_ms']} ms, worst {told['worst_ms']} ms, "
          f"{told['answers']} answers, {told['failures']} people who gave up, {told['retries']} retries of the page", flush=True)


def alone(args, folder):
    """One server on SQLite, nothing dies."""
    port, = free_ports(1)
    server = serve(folder, "alone.db", port)
    told = json.loads(people(args, port, create(folder, "alone.db")).communicate()[0])
    server.terminate()
    server.wait()
    say("one server on SQLite", told)
    return told


def kill_by_turns(args, folder, database, servers, ports):
    """What happened to whom, until the time is over."""
    begun, kills, restarted = time.monotonic(), 0, 0
    while time.monotonic() < begun + args.seconds - 5:
        time.sleep(args.every)
        i = kills % SERVERS
        servers[i].kill()
        servers[i].wait()
        kills += 1
        time.sleep(1)
        servers[i] = serve(folder, database.pooled, ports[i])
        if not restarted and time.monotonic() > begun + args.seconds / 2:
            database.restart("immediate")
            restarted = 1
    return kills, restarted


def check(database, study, path):
    """Keys of acknowledged answers that are not in the store, of stored ones that nobody was told about, and of those stored twice."""
    told = collections.Counter(path.read_text().split())
    rows = database.ask("SELECT e.participant, e.seq, e.key FROM melicit.event e JOIN melicit.participant p ON p.id = e.participant "
                        f"WHERE p.study = '{study}' ORDER BY e.participant, e.seq")
    stored, length = collections.Counter(), collections.Counter()
    for participant, seq, key in rows:
        length[participant] += 1
        assert int(seq) == length[participant], f"a gap in the log of {participant}"
        stored[key] += 1
    lost, doubled = told - stored, sum(n > 1 for n in stored.values())
    return len(lost), doubled, len(stored - told)


def many(args, folder, database):
    ports = free_ports(SERVERS)
    servers = [serve(folder, database.pooled, port) for port in ports]
    proxy = Proxy(folder, ports)
    calm_study, study, keys = create(folder, database.pooled), create(folder, database.pooled), pathlib.Path(folder, "keys")
    say(f"{SERVERS} servers on PostgreSQL, nobody dies", json.loads(people(args, proxy.port, calm_study).communicate()[0]))
    running = people(args, proxy.port, study, str(keys))
    kills, restarts = kill_by_turns(args, folder, database, servers, ports)
    told = json.loads(running.communicate()[0])
    say(f"{SERVERS} servers on PostgreSQL, {kills} kills, {restarts} restart of the database", told)
    lost, doubled, unknown = check(database, study, keys)
    print(f"acknowledged answers that are lost: {lost} (0); stored twice: {doubled} (0); stored, not acknowledged: {unknown}", flush=True)
    proxy.stop()
    for server in servers:
        server.kill()
        server.wait()
    return told["failures"] == 0 and lost == 0 and doubled == 0 and restarts == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--participants", type=int, default=1000)
    parser.add_argument("--think", type=float, default=4)
    parser.add_argument("--every", type=float, default=10)
    args = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {args.participants} people who think for {args.think} s")
    database = Database()
    try:
        with tempfile.TemporaryDirectory() as folder:
            alone(args, folder)
            met = many(args, folder, database)
    finally:
        database.stop()
    record("several servers, one killed every ten seconds", "nothing lost or doubled" if met else "see bench/cluster.py", met)
    if not met:
        raise SystemExit("missed")


if __name__ == "__main__":
    main()
