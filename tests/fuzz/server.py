#!/usr/bin/env python3
"""Mutation fuzzing of the whole program, for a build with sanitizers: bytes of HTTP, bodies in JSON and study files go to a
server, session files to `melicit report`. Whatever comes, requests are answered with a status that says what is wrong with them
or not at all, and nothing is written to standard error, where sanitizers report. What led to a failure is printed.

usage: tests/fuzz/server.py [--seconds 60] [--seed N]; MELICIT_BUILD names the build."""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from conftest import PROGRAM, environment  # noqa: E402
from serving import OWN, Server, reply_to, small_study  # noqa: E402
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
    """A server, somebody who answers it, a researcher, and what they send."""

    def __init__(self, folder, seed):
        self.folder, self.rng, self.seen = folder, random.Random(seed), collections.Counter()
        self.server = Server(folder, "--memory", "0", "--compute", "100")  # sanitized programs are larger and slower
        self.researcher = self.server.researcher()
        self.study = self.researcher.post("/api/admin/studies", small_study())[1]["id"]
        self.begin_again()
        self.studies = [json.loads(path.read_text()) for path in sorted((ROOT / "studies").glob("*.json"))] + [small_study()]
        self.sessions = [path.read_bytes() for path in sorted((ROOT / "tests" / "fuzz" / "corpus" / "session").iterdir())]

    def begin_again(self):
        self.client = self.server.client()
        self.page = self.client.join(self.study)

    def headers(self):
        cookie = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        return f"Host: localhost\r\nCookie: {cookie}\r\nX-Melicit-CSRF: {self.client.csrf}\r\nContent-Type: application/json\r\n"

    def note(self, what, status, sent):
        self.seen[f"{what} {status}"] += 1
        assert status in STATUSES, (what, status, sent)

    def http(self):
        body = json.dumps({"seq": self.page["seq"], "key": "fuzz-key", "value": reply_to(self.page), "seconds": 1})
        whole = self.rng.choice([
            f"POST /api/event HTTP/1.1\r\n{self.headers()}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}",
            f"GET /api/page?study={self.study} HTTP/1.1\r\n{self.headers()}Connection: close\r\n\r\n",
            f"GET /s/{self.study}?label=a&link=b HTTP/1.1\r\n{self.headers()}Connection: close\r\n\r\n"])
        sent = mutate(self.rng, whole.encode())
        got, _ = self.server.raw(sent, wait=0.05)
        self.note("http", int(got.split()[1]) if got.startswith(b"HTTP/1.") else 400, sent)

    def body(self):
        event = {"seq": self.page["seq"], "key": f"key-{self.rng.random()}", "value": reply_to(self.page), "seconds": 1}
        path, body = self.rng.choice([
            ("/api/event", event), ("/api/event", event), ("/api/undo", {"seq": self.page["seq"], "key": "12345678"}), ("/api/start", OWN),
            ("/api/join", {"study": self.study, "label": "l", "link": "k", "prolific": {"PROLIFIC_PID": "p"}}), ("/api/erase", {}),
            ("/api/leave", {}), ("/api/admin/login", {"token": "x"})])
        text = json.dumps(mangled(self.rng, body)).encode("utf8", "surrogatepass")
        sent = mutate(self.rng, text) if self.rng.random() < 0.5 else text
        csrf = self.client.csrf
        status, data = self.client.request("POST", path, sent)
        self.note("body", status, (path, sent))
        self.client.csrf = csrf
        told = json.loads(data)
        if status == 200 and path in ("/api/event", "/api/undo"):
            self.page = told["page"]
        elif status == 200 or self.page["kind"] == "done":
            self.begin_again()
        if self.rng.random() < 0.3 and self.page["kind"] != "done":
            self.page = self.client.get("/api/page")[1].get("page") or self.page
            status, told = self.client.send(self.page, reply_to(self.page))
            self.page = told.get("page") or self.page

    def study_file(self):
        text = json.dumps(mangled(self.rng, self.rng.choice(self.studies))).encode("utf8", "surrogatepass")
        sent = mutate(self.rng, text) if self.rng.random() < 0.5 else text
        csrf = self.researcher.csrf
        status, data = self.researcher.request("POST", "/api/admin/studies", sent)
        self.researcher.csrf = csrf
        self.note("study", status, sent)
        if status == 200:
            status, data = self.server.client().request("POST", "/api/join", json.dumps({"study": json.loads(data)["id"]}))
            self.note("join", status, sent)

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
        self.server.client().join(self.study)
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
          + ", ".join(f"{what} {n}" for what, n in sorted(fuzzer.seen.items())))


if __name__ == "__main__":
    main()
