#!/usr/bin/env python3
"""Somebody answers a study while others attack the server, in each way by itself and in all ways at once: how long the honest answers
took, next to 250 ms, and how much memory the server needed, next to 256 MB.

usage: bench/abuse.py [--seconds 6]; MELICIT_BUILD names the build."""
import argparse
import contextlib
import multiprocessing
import os
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from routes import CSV  # noqa: E402
from serving import OWN, create_study, small_study  # noqa: E402
from test_serve_abuse import TOO_LARGE, Honest, Limited, slow_start  # noqa: E402

ATTACKERS = 8
UPLOAD = b"POST /api/upload HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nContent-Type: text/csv\r\nContent-Length: 33554432\r\n\r\n"

NUMBERS = "a,b,label\n" + "".join(f"{i % 97},t{i % 500},{'xy'[i % 2]}\n" for i in range(20_000))
TEXTS = "a,b,label\n" + "".join(f"{i:x}q,{i:x}r,{'xy'[i % 2]}\n" for i in range(100_000))
CHANCES = "p,q,r,s,t,u,label\n" + "".join(f"{i % 997 / 997:.4f},.1,.2,.3,.4,.6,{'xy'[i * 7 % 997 > 400]}\n" for i in range(50_000))


class Attacker:
    """With an address of their own; each method is an attack, which is repeated."""

    def __init__(self, server, study, number):
        self.server, self.study, self.chance = server, study, random.Random(number)
        self.client = server.at(f"198.51.100.{number}", 30)
        self.uploaded = self.link = None

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


def attack(server, study, names, over, attacks):
    """All attackers, in a process of their own that yields to the server's: they would be on other machines."""
    os.nice(5)

    def one(number):
        attacker = Attacker(server, study, number)
        while not over.is_set():
            with contextlib.suppress(OSError, ValueError, AssertionError, KeyError):
                getattr(attacker, attacker.chance.choice(names))()
            with attacks.get_lock():
                attacks.value += 1

    threads = [threading.Thread(target=one, args=(i,)) for i in range(ATTACKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run(names, seconds):
    """Honest answers in seconds, attacks that ended, and the most megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        server = Limited(pathlib.Path(folder))
        study, over, attacks = create_study(server), multiprocessing.Event(), multiprocessing.Value("i", 0)
        attackers = multiprocessing.get_context("fork").Process(target=attack, args=(server, study, names, over, attacks))
        attackers.start()
        with contextlib.redirect_stdout(None), Honest(server, study) as honest:
            time.sleep(seconds)
        over.set()
        attackers.join()
        peak = server.peak() >> 20
        server.stop()
        return sorted(honest.seconds), attacks.value, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6, help="of each attack")
    args = parser.parse_args()
    failed = False
    for names in [*([name] for name in ATTACKS), ATTACKS]:
        seconds, attacks, peak = run(names, args.seconds)
        p50, p99 = (1000 * seconds[int(share * len(seconds))] for share in (0.5, 0.99))
        what = names[0].replace("_", " ") if len(names) == 1 else "all of them"
        print(f"under attack ({what}): {attacks} attacks, {len(seconds)} honest answers, p50 {p50:.0f} ms, p99 {p99:.0f} ms (250), memory {peak} MB (256), "
              f"load {os.getloadavg()[0]:.0f}", flush=True)
        failed = failed or p99 >= 250 or peak >= 256
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
