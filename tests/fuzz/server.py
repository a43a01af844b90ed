#!/usr/bin/env python3
"""Mutation fuzzing of the whole program, for a build with sanitizers: bytes of HTTP, bodies and paths of every route and study files go
to a server, session files to `melicit report`. Whatever comes, requests are answered with a status that says what is wrong with them
or not at all, and nothing is written to standard error, where sanitizers report. What led to a failure is printed.

usage: tests/fuzz/server.py [--seconds 60] [--seed N]; MELICIT_BUILD names the build."""
import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from conftest import PROGRAM, environment  # noqa: E402
from routes import CSV, ENDING, Scene  # noqa: E402
from serving import Client, Server, reply_to, small_study  # noqa: E402
from test_serve_twelve import mangled  # noqa: E402

STATUSES = {200, 304, 400, 403, 404, 405, 409, 411, 413, 414, 421, 429, 431, 501, 503, 505}
PIECES = [b"\r\n", b"\n", b"\0", b" ", b":", b"\xff\xfe", b"%00", b"%2e%2e/", b"0", b"-1", b"99999999999999999999", b"{", b"}", b"[", b'"',
          b"\\u0000", b"1e999", b"null", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"HTTP/1.0", b"A" * 3000]


def mutate(rng, data):
    """A few bytes changed, cut, doubled or put in."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at, n = rng.randrange(len(data) + 1), rng.randrange(1, 40)
        what = rng.randrange(5)
        if what == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1:
            del data[at:at + n]
        elif what == 2:
            data[at:at] = data[at:at + n]
        elif what == 3:
            data[at:at] = rng.choice(PIECES)
        else:
            data[at:at + n] = rng.choice(PIECES)
    return bytes(data)


class Fuzzer:
    """A server, those who talk to it, and what they send."""

    def __init__(self, folder, seed):
        self.folder, self.rng, self.seen, self.sent = folder, random.Random(seed), collections.Counter(), collections.Counter()
        self.server = Server(folder, "--limits", "memory=0", "--limits", "compute=100")  # sanitized programs are larger and slower
        self.server.client = lambda: Client(self.server.port, 900)
        self.scene = Scene(self.server)
        self.studies = [json.loads(path.read_text()) for path in sorted((ROOT / "studies").glob("*.json"))] + [small_study()]
        self.sessions = [path.read_bytes() for path in sorted((ROOT / "tests" / "fuzz" / "corpus" / "session").iterdir())]

    def note(self, what, status, sent):
        self.seen[f"{what} {status}"] += 1
        assert status in STATUSES, (what, status, sent)

    def renew(self):
        self.scene.researcher.json("DELETE", f"/api/admin/studies/{self.scene.study}", {})  # if it is still there
        self.scene = Scene(self.server)

    def one_request(self):
        """Of the requests that pages make to all routes, each route as often; those that end a scene less often."""
        requests = self.scene.requests()
        route = self.rng.choices(list(requests), [0.2 if route in ENDING else 1.0 for route in requests])[0]
        return route, *self.rng.choice(requests[route])

    def http(self):
        (method, _), who, path, body = self.one_request()
        cookie = "; ".join(f"{name}={value}" for name, value in who.cookies.items())
        text = "" if body is None else body if isinstance(body, str) else json.dumps(body)
        whole = (f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nX-Melicit-CSRF: {who.csrf}\r\n"
                 f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n{text}")
        sent = mutate(self.rng, whole.encode())
        got, _ = self.server.raw(sent, wait=0.05)
        self.note("http", int(got.split()[1]) if got.startswith(b"HTTP/1.") else 400, sent)

    def mangled_body(self, body):
        if isinstance(body, str):
            return mutate(self.rng, body.encode())
        text = json.dumps(mangled(self.rng, body)).encode("utf8", "surrogatepass")
        return mutate(self.rng, text) if self.rng.random() < 0.5 else text

    def body(self):
        route, who, path, body = self.one_request()
        if self.rng.random() < (0.5 if body is None else 0.1):
            path = re.sub(rb"[^!-~]", b"%20", b"/" + mutate(self.rng, path.encode()[1:])).decode()
        sent = None if body is None else self.mangled_body(body)
        csrf = who.csrf
        status, data = who.request(route[0], path, sent, CSV if isinstance(body, str) else None)
        who.csrf = csrf
        self.sent[route] += 1
        self.note("body", status, (route, path, sent))
        if status >= 400:
            assert json.loads(data)["error"]["message"], (route, path, sent, data)
        if status == 200 and route in ENDING or not all(who.cookies.values()):
            self.renew()
        elif self.rng.random() < 0.3:
            self.go_on()

    def go_on(self):
        """Both people answer as they should; somebody who is through, or whose browser has somebody else's cookie by now, begins anew."""
        scene = self.scene
        pages = [who.get("/api/page")[1].get("page") for who in (scene.client, scene.owner)]
        there = all(pages) and scene.researcher.get(f"/api/admin/studies/{scene.study}")[0] == 200
        if not there or "done" in (page["kind"] for page in pages) or self.rng.random() < 0.02:
            self.renew()
            return
        scene.page, scene.own_page = pages
        status, told = scene.client.send(scene.page, reply_to(scene.page))
        scene.page = told.get("page") or scene.page
        if scene.own_page["kind"] == "question":
            status, told = scene.owner.send(scene.own_page, reply_to(scene.own_page))
            scene.own_page = told.get("page") or scene.own_page

    def study_file(self):
        sent, researcher = self.mangled_body(self.rng.choice(self.studies)), self.scene.researcher
        status, data = researcher.request("POST", self.rng.choice(["/api/admin/studies", "/api/admin/preview"]), sent)
        self.note("study", status, sent)
        study = json.loads(data).get("id")
        if study is not None:
            self.note("join", self.server.client().request("POST", "/api/join", json.dumps({"study": study}))[0], sent)
            self.note("delete", researcher.request("DELETE", f"/api/admin/studies/{study}", "{}")[0], sent)

    def session_file(self):
        sent = mutate(self.rng, self.rng.choice(self.sessions))
        path = self.folder / "fuzzed.jsonl"
        path.write_bytes(sent)
        done = subprocess.run([PROGRAM, "report", "--session", path, "--out", self.folder / "report.html"], env=environment(),
                              capture_output=True, cwd=self.folder, timeout=300)
        self.seen[f"session {done.returncode}"] += 1
        assert done.returncode in (0, 2, 3, 6) and b"Sanitizer" not in done.stderr, (sent, done.returncode, done.stderr)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.rng.choices([self.http, self.body, self.study_file, self.session_file], [6, 8, 3, 1])[0]()
            assert self.server.process.poll() is None, "the server ended"
        Scene(self.server)
        self.server.stop()  # with nothing on standard error


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(pathlib.Path(folder), args.seed)
        try:
            fuzzer.run(args.seconds)
        except BaseException:
            print(f"seed {args.seed}: {sum(fuzzer.seen.values())} inputs, then a failure", file=sys.stderr)
            if fuzzer.server.process.poll() is None:
                fuzzer.server.process.kill()
            print(fuzzer.server.process.stderr.read(), file=sys.stderr)
            raise
    print(f"fuzz: {sum(fuzzer.seen.values())} inputs in {args.seconds:.0f} s, seed {args.seed}: "
          + ", ".join(f"{what} {n}" for what, n in sorted(fuzzer.seen.items()))
          + f"; {len(fuzzer.sent)} routes, each at least {min(fuzzer.sent.values())} times")


if __name__ == "__main__":
    main()
