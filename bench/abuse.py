#!/usr/bin/env python3
"""Somebody answers a study while others attack the server, in each way by itself and in all ways at once: how long the honest answers
took, next to 250 ms, and how much memory the server needed, next to 256 MB.

Then a store of many people (10,000 participants, 200,000 sessions of people's own, 5 GB): how long the server takes to start on it, and
the same two figures while it removes what expired, forgets old sessions, deletes a study and exports another.

usage: bench/abuse.py [--seconds 6] [--attacks A,B] [--store-gb 5] [--store-only]; MELICIT_BUILD names the build."""
import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import socket
import sqlite3
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from figures import record  # noqa: E402
from routes import CSV  # noqa: E402
from serving import OWN, create_study, small_study  # noqa: E402
from test_serve_abuse import DAY, MANY_COLUMNS, TOO_LARGE, Honest, Limited, large_study, now_ms, slow_start  # noqa: E402

ATTACKERS = 8
UPLOAD = b"POST /api/upload HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nContent-Type: text/csv\r\nContent-Length: 33554432\r\n\r\n"

NUMBERS = "a,b,label\n" + "".join(f"{i % 97},t{i % 500},{'xy'[i % 2]}\n" for i in range(20_000))
TEXTS = "a,b,label\n" + "".join(f"{i:x}q,{i:x}r,{'xy'[i % 2]}\n" for i in range(100_000))
CHANCES = "p,q,r,s,t,u,label\n" + "".join(f"{i % 997 / 997:.4f},.1,.2,.3,.4,.6,{'xy'[i * 7 % 997 > 400]}\n" for i in range(50_000))


DECISIONS = "truth,decision,label\n" + "".join(f"{'xy'[i % 2]},{'xy'[i % 3 == 0]},{'xy'[i % 2]}\n" for i in range(100_000))
LARGE_ANSWER = "y" * 50_000


class Attacker:
    """With an address of their own; each method is an attack, which is repeated."""

    def __init__(self, server, study, large, number):
        self.server, self.study, self.large, self.chance = server, study, large, random.Random(number)
        self.client = server.at(f"198.51.100.{number}", 30)
        self.uploaded = self.link = self.page = self.decided = None

    def uploads_left_early(self):
        with socket.create_connection(("127.0.0.1", self.server.port)) as s:
            s.sendall(UPLOAD + b"1,2\n" * 100_000)

    def spaces_too_large(self):
        space, family, options = self.chance.choice(TOO_LARGE)
        self.client.post("/api/start", {"space": space, "family": family, "options": options})

    def spaces_too_slow(self):
        self.client.post("/api/start", slow_start(self.chance.randrange(1000)))

    def many_classes(self):
        slopes = ",".join(str(k + self.chance.random() / 9) for k in range(14))
        self.client.post("/api/start", {"space": {"population": f"softmax:{slopes}"}, "family": "diagonal-linear", "options": {"tolerance": 1e-9}})

    def tables(self):
        self.client.json("POST", "/api/upload", NUMBERS, CSV)

    def texts_that_differ(self):
        self.client.json("POST", "/api/upload", TEXTS, CSV)

    def models(self):
        told = self.client.json("POST", "/api/upload", NUMBERS, CSV)[1]
        if "upload" in told:
            self.client.post("/api/start", {**OWN, "space": {"data": f"upload:{told['upload']}", "label": "label"}})

    def first_rows_of_separators(self):
        row = MANY_COLUMNS[self.chance.choice(list(MANY_COLUMNS))]
        self.client.json("POST", "/api/upload", row * ((9 << 20) // len(row)) + b"\n", CSV)

    def small_uploads(self):
        self.client.json("POST", "/api/upload", f"a,b\n{self.chance.random()},x\n2,y\n", CSV)

    def decisions_of_today(self):
        if "melicit" not in self.client.cookies:
            page = self.client.own(options={"max_questions": 2})
            while page["kind"] == "question":
                page = self.client.answer(page)
            self.decided = self.client.json("POST", "/api/upload", DECISIONS, CSV)[1]["upload"]
        self.client.post("/api/today", {"upload": self.decided, "truth": "truth", "decision": "decision"})

    def long_answers(self):
        """Forms of 50 kB, stored and erased again."""
        self.client.cookies, self.client.csrf = {}, "first"
        page = self.client.join(self.study)
        page = self.client.answer(page)
        self.client.send(page, {"age": 30, "note": LARGE_ANSWER})
        self.client.post("/api/erase", {})

    def a_large_study(self):
        """Participants of a study of ten classes."""
        if self.page is None or self.page["kind"] == "done":
            self.client.cookies, self.client.csrf = {}, "first"
            told = self.client.post("/api/join", {"study": self.large})[1]
        else:
            told = self.client.send(self.page, {"answer": self.chance.choice("AB")})[1]
        self.page = told.get("page", self.page)

    def many_connections(self):
        with contextlib.ExitStack() as stack:
            for _ in range(150):
                stack.enter_context(socket.create_connection(("127.0.0.1", self.server.port)))
            time.sleep(0.5)

    def joins(self):
        for _ in range(50):
            self.client.post("/api/join", {"study": self.study})

    def half_requests(self):
        with contextlib.ExitStack() as stack:
            for _ in range(40):
                s = stack.enter_context(socket.create_connection(("127.0.0.1", self.server.port)))
                s.sendall(b"POST /api/event HTTP/1.1\r\nHost: localhost\r\nX-A: ")
            time.sleep(0.5)

    def answers_unread(self):
        self.client.cookies, self.client.csrf = {}, "first"
        page = self.client.own()
        self.client.answer(page)
        cookie = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                s = stack.enter_context(socket.create_connection(("127.0.0.1", self.server.port)))
                s.sendall(f"GET /api/result/report HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode())
            time.sleep(0.2)

    def upload(self):
        """The id of a table of this attacker's, uploaded once."""
        if self.uploaded is None:
            self.uploaded = self.client.json("POST", "/api/upload", CHANCES, CSV)[1]["upload"]
        return self.uploaded

    def columns(self):
        self.client.post("/api/columns", {"upload": self.upload(), "columns": [{"name": f"n{i}", "from": name} for i, name in enumerate("pqrstu")]})

    def checks(self):
        self.client.post("/api/check", {**OWN, "space": {"data": f"upload:{self.upload()}", "label": "label"},
                                        "options": {"seed": self.chance.randrange(1000)}})

    def decisions(self):
        if "melicit" not in self.client.cookies:
            self.client.own(space={"data": "breast_cancer_original"})
        self.client.post("/api/decisions", {"upload": self.upload(), "columns": ["p"], "calibrated": True})

    def shared_links(self):
        if self.link is None:
            page = self.client.own(space={"data": "breast_cancer_original"}, options={"max_questions": 12})
            while page["kind"] == "question":
                page = self.client.answer(page)
            self.link = self.client.post("/api/share", {})[1]["path"].removeprefix("/r/")
        self.client.get(f"/api/shared/{self.link}")
        ident, proof = self.link.split("/")
        self.client.post("/api/start", {"like": {"id": ident, "proof": proof}})

    def previews(self):
        """By a researcher: many windows of the editor, and rehearsals and exports besides."""
        if self.client.cookies.get("melicit_admin") is None:
            self.client.post("/api/admin/login", {"token": self.server.token})
        study = {**small_study(), "space": {"ball": "6", "radius": 0.02}, "words": {}, "elicitation": {"family": "linear", "max_questions": 60},
                 "phases": [{"kind": "elicitation"}, {"kind": "done", "title": "Thanks"}]}
        about = f"/api/admin/studies/{self.study}"
        self.client.request(*self.chance.choice([("POST", "/api/admin/preview", study), ("POST", "/api/admin/studies", study),
                                                 ("POST", f"{about}/rehearse", {"participants": 20}), ("GET", f"{about}/export.csv")]))


ATTACKS = [name for name in vars(Attacker) if not name.startswith("_") and name != "upload"]


def attack(server, study, large, names, over, attacks):
    """All attackers, in a process of their own that yields to the server's: they would be on other machines."""
    os.nice(5)

    def one(number):
        attacker = Attacker(server, study, large, number)
        while not over.is_set():
            with contextlib.suppress(OSError, ValueError, AssertionError, KeyError):
                getattr(attacker, attacker.chance.choice(names))()
            with attacks.get_lock():
                attacks.value += 1

    count = 32 if names == ["a_large_study"] else ATTACKERS
    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run(names, seconds):
    """Honest answers in seconds, attacks that ended, and the most megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        server = Limited(pathlib.Path(folder))
        study, over, attacks = create_study(server), multiprocessing.Event(), multiprocessing.Value("i", 0)
        large = create_study(server, large_study()) if "a_large_study" in names else None
        attackers = multiprocessing.get_context("fork").Process(target=attack, args=(server, study, large, names, over, attacks))
        attackers.start()
        with contextlib.redirect_stdout(None), Honest(server, study) as honest:
            time.sleep(seconds)
        over.set()
        attackers.join()
        peak = server.peak() >> 20
        server.stop()
        return sorted(honest.seconds), attacks.value, peak


# a store of many people ---------------------------------------------------------------------------

def fill_store(path, study, goes, gigabytes):
    """A store of so many gigabytes: a study of 10,000 people that is to be deleted, one that is exported, and 200,000 sessions of people's
    own, a tenth of which are to be forgotten; fewer of each in a smaller store. The rest is uploads that expired."""
    share = min(1.0, gigabytes / 5)
    people, sessions = int(10_000 * share), int(200_000 * share)
    with contextlib.closing(sqlite3.connect(path, timeout=60)) as db:
        db.executescript("PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; PRAGMA cache_size=-200000")
        now = now_ms()

        def add(prefix, n, study, answers, size, seen):
            body = json.dumps({"page": "question", "value": {"answer": "A", "note": "y" * size}})
            db.executemany("INSERT INTO participant (id, study, about, state, created, seen, seed) VALUES (?, ?, '{}', 'complete', ?, ?, '1')",
                           ((f"{prefix}{i:08d}", study, now + i, seen(i)) for i in range(n)))
            db.executemany("INSERT INTO event (participant, seq, key, body, time) VALUES (?, ?, ?, ?, ?)",
                           ((f"{prefix}{i:08d}", k, f"k{k}", body, now) for i in range(n) for k in range(1, answers + 1)))

        add("g", people, goes, 60, 2000, lambda _: now)
        add("e", people, study, 60, 2000, lambda _: now)
        add("s", sessions, "alone", 6, 600, lambda i: now if i % 10 else now - 100 * DAY)
        db.commit()
        uploads = 0
        while os.path.getsize(path) < gigabytes * 1e9:
            name = f"upload:s-{uploads}"
            db.execute("INSERT INTO thing (name, bytes, expires, more) VALUES (?, x'', 1000, ?)", (name, 31 << 20))
            db.executemany("INSERT INTO piece VALUES (?, ?, ?)", ((name, n, bytes(1 << 20)) for n in range(31)))
            db.commit()
            uploads += 1
        db.executescript("PRAGMA journal_mode=WAL")
    return people, sessions, uploads


def count(path, query, *values):
    with contextlib.closing(sqlite3.connect(path, timeout=60)) as db:
        return db.execute(query, values).fetchone()[0]


def during(server, study, what, done):
    """Honest answers while something goes on; false: too slow, or too much memory."""
    with contextlib.redirect_stdout(None), Honest(server, study) as honest:
        begun = time.monotonic()
        while not done():
            time.sleep(0.5)
        took = time.monotonic() - begun
    seconds = sorted(honest.seconds)
    p50, p99 = (1000 * seconds[int(share * len(seconds))] for share in (0.5, 0.99))
    peak = server.peak() >> 20
    print(f"large store ({what}): {took:.1f} s, {len(seconds)} honest answers, p50 {p50:.0f} ms, p99 {p99:.0f} ms (250), memory {peak} MB (200), "
          f"load {os.getloadavg()[0]:.0f}", flush=True)
    return p99 < 250 and peak < 200


def large_store(gigabytes):
    """Whether a store of so many gigabytes is kept house for as it should be."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        path = pathlib.Path(folder) / "t.db"
        server = Limited(pathlib.Path(folder), "--limits", "joins=0")
        honest, study, goes = create_study(server), create_study(server), create_study(server)
        server.stop()
        people, sessions, uploads = fill_store(path, study, goes, gigabytes)
        print(f"large store: {os.path.getsize(path) / 1e9:.1f} GB, {people} people in each of two studies, {sessions} sessions, {uploads} uploads", flush=True)
        server.start()
        print(f"large store: started in {server.seconds_to_start:.2f} s (2)", flush=True)
        good = server.seconds_to_start < 2
        good &= during(server, honest, "expiry", lambda: count(path, "SELECT (SELECT count(*) FROM thing WHERE expires = 1000) + (SELECT count(*) FROM piece)") == 0)
        good &= during(server, honest, "sessions to be forgotten", lambda: count(path, "SELECT count(*) FROM participant WHERE study = 'alone' AND seen < ?", now_ms() - 99 * DAY) == 0)
        researcher = server.researcher()
        assert researcher.json("DELETE", f"/api/admin/studies/{goes}", {})[0] == 200
        good &= during(server, honest, "deleting a study", lambda: count(path, "SELECT count(*) FROM study WHERE id = ?", goes) == 0)
        for ending in ("csv", "jsonl", "sqlite"):
            exported = []
            patient = server.at("203.0.113.8", 900)
            assert patient.post("/api/admin/login", {"token": server.token})[0] == 200
            thread = threading.Thread(target=lambda ending=ending, exported=exported, patient=patient: exported.append(
                patient.request("GET", f"/api/admin/studies/{study}/export.{ending}")[0]))
            thread.start()
            good &= during(server, honest, f"export.{ending}", lambda thread=thread: not thread.is_alive())
            good &= exported == [200]
        server.stop()
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6, help="of each attack")
    parser.add_argument("--attacks", help="these only, separated by commas")
    parser.add_argument("--store-gb", type=float, default=5, help="gigabytes of the large store; 0: none")
    parser.add_argument("--store-only", action="store_true", help="no attacks")
    args = parser.parse_args()
    failed, worst = False, [0, 0]
    chosen = args.attacks.split(",") if args.attacks else ATTACKS
    for name in set(chosen) - set(ATTACKS):
        parser.error(f"--attacks: there is no {name!r}, but {', '.join(ATTACKS)}")
    for names in [] if args.store_only else [*([name] for name in chosen), *([] if args.attacks else [ATTACKS])]:
        seconds, attacks, peak = run(names, args.seconds)
        p50, p99 = (1000 * seconds[int(share * len(seconds))] for share in (0.5, 0.99))
        what = names[0].replace("_", " ") if len(names) == 1 else "all of them"
        print(f"under attack ({what}): {attacks} attacks, {len(seconds)} honest answers, p50 {p50:.0f} ms, p99 {p99:.0f} ms (250), memory {peak} MB (256), "
              f"load {os.getloadavg()[0]:.0f}", flush=True)
        failed = failed or p99 >= 250 or peak >= 256
        worst = [max(worst[0], p99), max(worst[1], peak)]
    if not args.store_only and not args.attacks:
        record("server under attack", f"{worst[0]:.0f} ms or less, {worst[1]:.0f} MB", not failed)
    if args.store_gb > 0 and not args.attacks:
        failed = not large_store(args.store_gb) or failed
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
