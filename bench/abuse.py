#!/usr/bin/env python3
"""Somebody answers a study while others attack the server in every way that tests/system/test_serve_abuse.py knows: how long the
honest answers took, next to 250 ms, and how much memory the server needed, next to 256 MB.

usage: bench/abuse.py [--seconds 20]; MELICIT_BUILD names the build."""
import argparse
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from serving import create_study  # noqa: E402
from test_serve_abuse import CSV, TOO_LARGE, Honest, Limited, slow_start  # noqa: E402


def attack(server, study, number, over):
    """One attacker, with an address of their own."""
    chance = random.Random(number)
    client = server.at(f"198.51.100.{number}", 30)
    table = "a,b,label\n" + "".join(f"{i % 97},t{i % 500},{'xy'[i % 2]}\n" for i in range(20_000))

    def leave_early():
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.sendall(b"POST /api/upload HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nContent-Type: text/csv\r\n"
                      b"Content-Length: 33554432\r\n\r\n" + b"1,2\n" * 100_000)

    def start_too_large():
        space, family, options = chance.choice(TOO_LARGE)
        client.post("/api/start", {"space": space, "family": family, "options": options})

    while not over.is_set():
        try:
            chance.choice([leave_early, start_too_large, lambda: client.post("/api/start", slow_start(chance.randrange(1000))),
                           lambda: client.json("POST", "/api/upload", table, CSV),
                           lambda: [client.post("/api/join", {"study": study}) for _ in range(50)]])()
        except (OSError, ValueError):
            continue


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Limited(pathlib.Path(folder))
        study, over = create_study(server), threading.Event()
        attackers = [threading.Thread(target=attack, args=(server, study, i, over)) for i in range(8)]
        for thread in attackers:
            thread.start()
        with Honest(server, study) as honest:
            time.sleep(args.seconds)
        over.set()
        for thread in attackers:
            thread.join()
        seconds, peak = sorted(honest.seconds), server.peak() >> 20
        server.stop()
    p99 = 1000 * seconds[int(0.99 * len(seconds))]
    print(f"under attack: {len(seconds)} honest answers, p50 {1000 * seconds[len(seconds) // 2]:.0f} ms, p99 {p99:.0f} ms (250), memory "
          f"{peak} MB (256)")
    sys.exit(0 if p99 < 250 and peak < 256 else 1)


if __name__ == "__main__":
    main()
