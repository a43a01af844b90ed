"""melicit serve under attack, on a real server with the limits that it has by default: what anonymous clients can exhaust,
what they can learn, and whom they can pretend to be. During each attack the server stays below 256 MB, and somebody who
answers honestly is served."""
import concurrent.futures
import contextlib
import ctypes
import ctypes.util
import errno
import gzip
import http.client
import json
import os
import pathlib
import re
import resource
import select
import shlex
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import zipfile

import pytest
from cluster import free_ports
from conftest import BUILD, PROGRAM, SANITIZED, SOURCE, environment
from routes import CSV, ENDING, Scene, routes
from serving import OWN, SLOW, SOAK, Client, Server, create_study, in_threads, reply_to, small_study, within_a_minute

MOST_MEMORY = 256 << 20
PROXY = ("--trust-proxy", "127.0.0.1")  # tests say what address they come from
# A session whose questions and answers are long.
LONG = {"space": {"ball": "16", "radius": 0.001}, "family": "linear", "options": {"strategy": "search", "max_questions": 200}}
SANITIZERS_SLOW = pytest.mark.plain("about time and memory of the program as it is installed")


class Limited(Server):
    """With the default limits."""

    def __init__(self, folder, *options, **more):
        joins = () if any(option.startswith("joins=") for option in options) else ("--limits", "joins=120")
        super().__init__(folder, *joins, *PROXY, *options, **more)

    def peak(self):
        """The most bytes that were ever in memory."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

    def at(self, address, timeout=300):
        """A client at this address."""
        client = Client(self.port, timeout)
        plain = client.request
        client.request = lambda method, path, body=None, headers=None: plain(
            method, path, body, {"X-Forwarded-For": address, **(headers or {})})
        return client


@pytest.fixture
def server(melicit):
    with contextlib.ExitStack() as stack:
        running = Limited(melicit.folder)
        stack.callback(lambda: running.process.poll() is None and running.kill())
        yield running
        assert running.process.poll() is None, "the server ended"
        if not SANITIZED:
            assert running.peak() < MOST_MEMORY, f"{running.peak() >> 20} MB"
        running.stop()


class Honest:
    """Somebody who answers a study while something else goes on; every request must be served."""

    def __init__(self, server, study, address="203.0.113.9"):
        self.client, self.study, self.seconds, self.failure = server.at(address), study, [], None
        self.page = self.client.join(study)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.over.is_set():
                begun = time.monotonic()
                if self.page["kind"] == "done":
                    self.client.cookies = {}
                    self.client.csrf = "first"
                    self.page = self.client.join(self.study)
                else:
                    self.page = self.client.answer(self.page)
                self.seconds.append(time.monotonic() - begun)
                self.over.wait(0.05)
        except BaseException as failure:  # noqa: B902 - raised by whoever waits
            self.failure = failure

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failed):
        deadline = time.monotonic() + 300
        while len(self.seconds) < 4 and self.failure is None and time.monotonic() < deadline:
            time.sleep(0.05)
        self.over.set()
        self.thread.join()
        if self.failure is not None and failed[0] is None:
            raise self.failure
        print(f"honest: {len(self.seconds)} answers, p99 {sorted(self.seconds)[int(0.99 * len(self.seconds))]:.3f} s")
        assert len(self.seconds) > 3


def eventually(check, seconds=300):
    """Whether the check comes true."""
    deadline = time.monotonic() + seconds * SLOW
    while not check() and time.monotonic() < deadline:
        time.sleep(0.1)
    return check()


# memory -------------------------------------------------------------------------------------------

TOO_LARGE = [
    ({"ball": "10000", "radius": 1e-7}, "linear", {"strategy": "search"}),
    ({"ball": "300", "radius": 1e-3}, "diagonal-linear", {"tolerance": 1e-9}),
    ({"ball": "100,100", "radius": 1e-7}, "fair-linear", {"strategy": "search"}),
    ({"ball": "32", "radius": 1e-7}, "quadratic", {"strategy": "search"}),
    ({"ball": "8,4", "radius": 1e-7}, "fair-quadratic", {"strategy": "search"}),
    ({"ball": "17", "radius": 1e-7}, "linear", {}),
    ({"population": "softmax:" + ",".join(map(str, range(100)))}, "diagonal-linear", {}),
    ({"population": "softmax:" + ",".join(map(str, range(24)))}, "diagonal-linear", {}),
]


def test_sizes_are_refused_before_memory_is_taken(server):
    """Classes, groups and coefficients have limits on the web, said in a sentence; nothing is allocated first."""
    study = create_study(server)
    before = server.memory()
    with Honest(server, study):
        for i, (space, family, options) in enumerate(TOO_LARGE):
            status, told = server.at(f"198.51.100.{i}").post(
                "/api/start", {"space": space, "family": family, "options": options})
            assert status == 413 and re.search("at most|more pairs than", told["error"]["message"]), (space, told)
    assert SANITIZED or server.memory() < before + (32 << 20)


MANY_COLUMNS = {
    "commas": b",", "semicolons": b";", "tabs": b"\t", "bars": b"|", "blanks": b"1 ", "quotes": b'"",', "names": b"n,", "numbers": b"1,",
    "utf16": ",".encode("utf-16-le"),
}


@SANITIZERS_SLOW
@pytest.mark.parametrize("what", MANY_COLUMNS)
def test_first_rows_of_many_cells(server, what):
    """A first row of nothing but separators: the limit on columns holds before anything is kept for each of them."""
    study = create_study(server)
    before = server.memory()
    row = MANY_COLUMNS[what] * ((9 << 20) // len(MANY_COLUMNS[what]))
    mark, end = (b"\xff\xfe", "\n".encode("utf-16-le")) if what == "utf16" else (b"", b"\n")
    with Honest(server, study):
        status, told = server.at("198.51.100.1").json("POST", "/api/upload", mark + row + end + row + end, CSV)
    assert status == 413 and "more than the limit of 500" in told["error"]["message"], told
    assert server.peak() < before + (96 << 20), server.peak() >> 20


def zeros(n):
    """n bytes of zeros in pieces."""
    return (bytes(min(1 << 20, n - i)) for i in range(0, n, 1 << 20))


def write_gzip(path, start, filler, n):
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(0, n, 1 << 20):
            file.write(filler * ((1 << 20) // len(filler)))


def npy_start(shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def write_npz(path, shape, n):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("a.npy", "w", force_zip64=True) as file:
        file.write(npy_start(shape))
        for piece in zeros(n):
            file.write(piece)


BOMBS = {  # how it is made, what is said about it
    "commas.csv.gz": (lambda path: write_gzip(path, b"", b",", 32 << 20), "columns, more than the limit of 100000"),
    "line.csv.gz": (lambda path: write_gzip(path, b"", b"x", 160 << 20), "more than 67108864 bytes in one row"),
    "follows.npy.gz": (lambda path: write_gzip(path, npy_start("(3, 2)"), b"\0", 160 << 20), "bytes follow the last of the items"),
    "columns.npy.gz": (lambda path: write_gzip(path, npy_start("(2, 200000)"), b"\0", 160 << 20), "200000 columns, more than the limit"),
    "promise.npy.gz": (lambda path: write_gzip(path, npy_start("(90000000, 90000)"), b"\0", 160 << 20), "more than the limit of 8589934592 bytes"),
    "follows.npz": (lambda path: write_npz(path, "(3, 2)", 160 << 20), "bytes follow the last of 3 x 2 items"),
    "dimensions.npz": (lambda path: write_npz(path, "(3, 2, 5, 7)", 160 << 20), "an array of 4 dimensions"),
    "archive.npz.gz": (lambda path: write_gzip(path, b"PK\3\4", b"\0", 160 << 20), "unpack the archive first"),
    "zeros.svm.gz": (lambda path: write_gzip(path, b"1 1:1\n", b"\0", 160 << 20), "line 2: a NUL byte"),
    "line.svm.gz": (lambda path: write_gzip(path, b"1 1:1\n", b" ", 160 << 20), "line 2: more than 67108864 bytes in one line"),
    "comments.svm.gz": (lambda path: write_gzip(path, b"1 1:1\n-1 1:2\n", b"# nothing\n", 160 << 20), None),
}


@SANITIZERS_SLOW
@pytest.mark.parametrize("name", BOMBS)
def test_packed_files_that_become_large(melicit, name):
    """Small files that unpack to hundreds of megabytes are refused, or read, in little more memory than what is kept of them."""
    make, said = BOMBS[name]
    make(melicit.folder / name)
    assert (melicit.folder / name).stat().st_size < 4 << 20
    # The peak of a process begins with that of the one that starts it: a small one does, not this one.
    measure = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stderr=subprocess.STDOUT); " \
        "print(); print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    run = subprocess.run([sys.executable, "-I", "-S", "-c", measure, PROGRAM, "train", "--data", name, "--out", "m.json"],
                         cwd=melicit.folder, env=environment(), stdout=subprocess.PIPE, text=True, check=True)
    code, peak = map(int, run.stdout.splitlines()[-1].split())
    assert said is None or (code == 3 and said in run.stdout), run.stdout
    assert peak < 128 << 10, peak >> 10


@SANITIZERS_SLOW
def test_many_large_sessions_share_the_memory(melicit):
    """The largest sessions that are allowed, one after the other: the oldest are forgotten, and come back."""
    server = Limited(melicit.folder, *(() if SOAK else ("--limits", "memory=40")))
    study = create_study(server)
    people = []
    with Honest(server, study):
        for i in range(4 if not SOAK else 80):
            client = server.at(f"198.51.100.{i}")
            body = {"space": {"population": "softmax:" + ",".join(str(k + i / 100) for k in range(20 if SOAK else 12))},
                    "family": "diagonal-linear", "options": {"tolerance": 1e-9}}
            status, told = client.post("/api/start", body)
            assert status == 200 or (status == 503 and told["error"]["code"] == "busy"), told
            if status == 200:
                people.append(client)
    assert len(people) >= 3
    for _ in range(20):  # who was forgotten is made anew, if need be after a moment
        status, told = people[0].get("/api/page")
        if status == 200:
            break
        time.sleep(0.5)
    assert status == 200 and told["page"]["kind"] == "question"
    assert server.peak() < (MOST_MEMORY if SOAK else 96 << 20), server.peak() >> 20
    server.stop()


@SANITIZERS_SLOW
def test_tables_of_many_cells_and_models_of_many_weights(server):
    """32 MB of two-byte cells are refused when they are uploaded, and a million features before anything is trained."""
    study = create_study(server)
    with Honest(server, study):
        cells = ",".join(f"c{i}" for i in range(99)) + ",label\n" + ("1," * 99 + "x\n" + "2," * 99 + "y\n") * 75_000
        status, told = server.at("198.51.100.1").json("POST", "/api/upload", cells, CSV)
        assert status == 413 and "the limit is 4000000 cells" in told["error"]["message"], told
        texts = "a,b,c,label\n" + "".join(f"a{i},b{i},c{i},{'xy'[i % 2]}\n" for i in range(150_000))
        client = server.at("198.51.100.2")
        status, told = client.json("POST", "/api/upload", texts, CSV)
        assert status == 200, told
        status, told = client.post("/api/start", {**OWN, "space": {"data": f"upload:{told['upload']}", "label": "label"}})
        assert status == 413 and "200000 weights" in told["error"]["message"], told
        # What was one column when it was uploaded is not read as many later.
        wide = "a b\n" + ("1 " * 200 + "x\n" + "2 " * 200 + "y\n") * 30_000
        status, told = client.json("POST", "/api/upload", wide, CSV)
        if status == 200:
            space = {"data": f"upload:{told['upload']}", "label": "c201", "delimiter": " ", "header": "no"}
            assert client.post("/api/start", {**OWN, "space": space})[0] in (400, 413)


def told_soon(request):
    """What somebody is told who comes again while the server says that it is busy."""
    end = time.monotonic() + 300 * SLOW
    while (outcome := request())[0] == 503 and time.monotonic() < end:
        time.sleep(1.5)  # fewer requests than an address may make in a minute
    return outcome


def served_soon(request):
    """Who was told to come again is served once the storm is over."""
    assert told_soon(lambda: (request(),)) == (200,)


@SANITIZERS_SLOW
def test_uploads_and_their_models_share_the_memory(server):
    """Texts that all differ, and models of large tables, from eight addresses at once: they wait for each other, or are told to come again."""
    study = create_study(server)
    texts = "a,b,c,d,e,f,g,label\n" + "".join("".join(f"{7 * i + k:x}q," for k in range(7)) + "xy"[i % 2] + "\n" for i in range(130_000))
    numbers = ",".join(f"c{i}" for i in range(19)) + ",label\n" + "".join(
        "".join(f"{(i * (k + 3) % 97) / 97:.2f}," for k in range(19)) + "xy"[i * i % 7 < 3] + "\n" for i in range(100_000))
    status, told = server.at("198.51.100.1").json("POST", "/api/upload", numbers, CSV)
    assert status == 200, told
    start = {**OWN, "space": {"data": f"upload:{told['upload']}", "label": "label"}}

    def attack(i):
        client = server.at(f"198.51.100.{i}")
        if i % 2 == 0:
            return client.json("POST", "/api/upload", texts, CSV)
        return client.post("/api/start", {**start, "options": {"seed": i, "max_questions": 12}})

    with Honest(server, study), concurrent.futures.ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attack, range(8)))
    statuses = {status for status, _ in outcomes}
    assert statuses <= {200, 503}, outcomes
    served_soon(lambda: attack(1)[0])
    assert server.memory() < 144 << 20, "more than what may stay (--memory) and one model under way"


@SANITIZERS_SLOW
def test_columns_of_uploads_share_the_memory(server):
    """Columns of a large table that fourteen addresses ask for at once: what is read of it counts, too."""
    study = create_study(server)
    row = ",".join(str(12345678 * k) for k in range(1, 18)) + ",0.1"
    table = ",".join(f"c{i}" for i in range(18)) + "\n" + f"{row}\n" * 60_000
    assert len(table) > 9e6
    status, told = server.at("198.51.100.1").json("POST", "/api/upload", table, CSV)
    assert status == 200, told
    body = {"upload": told["upload"], "columns": [{"name": f"n{i}", "from": f"c{i}"} for i in range(17)]}
    twice = {"upload": told["upload"], "columns": [{"name": f"n{i}", "from": "c17"} for i in range(100)]}
    status, told = server.at("198.51.100.1").post("/api/columns", twice)
    assert status == 400 and '"c17" is chosen twice' in told["error"]["message"], told
    # Short numbers become long ones: 0.1 is 0.10000000000000001 to the last digit.
    short = ",".join(f"c{i}" for i in range(60)) + "\n" + (",".join(["0.1"] * 60) + "\n") * 30_000
    status, told = server.at("198.51.100.1").json("POST", "/api/upload", short, CSV)
    assert status == 200, told
    long = {"upload": told["upload"], "columns": [{"name": f"n{i}", "from": f"c{i}"} for i in range(60)]}
    status, told = server.at("198.51.100.1").post("/api/columns", long)
    assert status == 413 and "32 MB" in told["error"]["message"], told

    def attack(i):
        return server.at(f"198.51.100.{i}").post("/api/columns", body)

    with Honest(server, study), concurrent.futures.ThreadPoolExecutor(14) as pool:
        outcomes = list(pool.map(attack, range(14)))
    assert {status for status, _ in outcomes} <= {200, 503} and 503 in {status for status, _ in outcomes}, outcomes
    assert server.peak() < 128 << 20, server.peak() >> 20
    served_soon(lambda: attack(1)[0])


@SANITIZERS_SLOW
def test_decisions_have_a_size(server):
    """Decisions about a table of many rows and long names, from several addresses at once: too much is said to be, and memory is shared."""
    study = create_study(server)
    table = "a,label\n" + "".join(f"{i * 7919 % 1000},{'xy'[(i * 7919 % 1000 > 500) ^ (i % 5 == 0)] * 118}\n" for i in range(140_000))
    people = [server.at(f"198.51.100.{i}") for i in range(4)]
    status, told = people[0].json("POST", "/api/upload", table, CSV)
    assert status == 200, told
    start = {**OWN, "words": {}, "space": {"data": f"upload:{told['upload']}", "label": "label"}}
    for person in people:
        served_soon(lambda: person.post("/api/start", start)[0])
    with Honest(server, study), concurrent.futures.ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda person: person.post("/api/decisions", {}), people))
    assert {status for status, _ in outcomes} <= {413, 503} and 413 in {status for status, _ in outcomes}, outcomes
    assert "16 MB" in next(told for status, told in outcomes if status == 413)["error"]["message"]


@SANITIZERS_SLOW
def test_answers_that_nobody_reads_have_a_limit(melicit):
    """Downloads on their way to clients that do not read them: beyond 32 MB they are told to come again."""
    server = Limited(melicit.folder, "--limits", "deadline=60")
    study = create_study(server)
    client = server.at("198.51.100.1")
    page = client.own(**{**LONG, "space": {"ball": "22", "radius": 0.001}}, words={})
    for _ in range(60):
        page = client.answer(page)
    size = len(client.request("GET", "/api/result/session")[1])
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    statuses = []
    with contextlib.ExitStack() as stack:
        with Honest(server, study):
            while b"503" not in statuses and len(statuses) * size < 64 << 20:
                s = stack.enter_context(socket.socket())
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                s.settimeout(300)
                s.connect(("127.0.0.1", server.port))
                s.sendall(f"GET /api/result/session HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 198.51.100.{len(statuses)}\r\nCookie: {cookie}\r\n\r\n".encode())
                statuses.append(s.recv(12)[9:])  # and no more
    assert statuses[-1] == b"503" and set(statuses[:-1]) == {b"200"}, (statuses, size)
    server.stop()


@SANITIZERS_SLOW
def test_exports_of_any_size(melicit):
    """What is larger than the memory for answers is exported too, in little memory, and leaves no file behind."""
    server = Limited(melicit.folder)
    study = create_study(server)
    client = server.at("203.0.113.1")
    client.answer(client.join(study))
    line = json.dumps({"page": "form", "value": {"note": "n" * 100_000}})
    with sqlite3.connect(melicit.folder / "t.db") as db:
        db.executemany("INSERT INTO participant(id, study, about, state, created, seen, seed) VALUES(?, ?, '{}', 'active', ?, 1, '1')",
                       ((f"person-{i}", study, i) for i in range(12)))
        db.executemany("INSERT INTO event(participant, seq, key, body, time) VALUES(?, ?, ?, ?, 1)",
                       ((f"person-{i % 12}", i // 12 + 1, f"key-{i:08d}", line) for i in range(340)))
    researcher, before = server.researcher(), server.peak()
    for ending in ("csv", "sqlite"):
        status, told = researcher.request("GET", f"/api/admin/studies/{study}/export.{ending}")
        assert status == 200 and len(told) > 32 << 20 and len(told) == int(researcher.headers["Content-Length"])
        if ending == "sqlite":
            with sqlite3.connect(melicit.write("copy.db", told)) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                assert db.execute("SELECT count(*), sum(length(body)) FROM event WHERE time = 1").fetchone() == (340, 340 * len(line))
        else:
            assert told.count(b"n" * 100_000) == 340 and told.count(b"\n") == 342
    assert server.peak() < before + (24 << 20), (before >> 20, server.peak() >> 20)
    assert {name.split("-")[0] for name in os.listdir(melicit.folder)} == {"copy.db", "t.db"}
    server.stop()


@SANITIZERS_SLOW
def test_spaces_of_many_classes_are_heavy_work(server):
    """Six people who each are asked about 14 classes at once do not take six times the memory."""
    study = create_study(server)
    body = {"space": {"population": "softmax:" + ",".join(map(str, range(14)))}, "family": "diagonal-linear", "options": {"tolerance": 1e-9}}
    with Honest(server, study), concurrent.futures.ThreadPoolExecutor(6) as pool:
        outcomes = [status for status, _ in pool.map(lambda i: server.at(f"198.51.100.{i}").post("/api/start", body), range(6))]
    assert set(outcomes) <= {200, 503}, outcomes
    served_soon(lambda: server.at("198.51.100.9").post("/api/start", body)[0])


def test_studies_have_memory_before_strangers(melicit):
    """Where the memory is used up, sessions of one's own are refused for the moment, and studies go on."""
    server = Limited(melicit.folder)
    least = 0.75 * server.memory() / (1 << 20)  # less than it takes with nothing to do
    study = create_study(server)
    server.stop()
    server = Limited(melicit.folder, "--limits", f"memory={round(least)}")
    client = server.at("203.0.113.1")
    page = client.answer(client.join(study))
    status, told = server.at("198.51.100.1").post("/api/start", OWN)
    assert status == 503 and told["error"]["code"] == "busy", told
    assert client.answer(page)["seq"] == 3
    server.stop()


# processor ----------------------------------------------------------------------------------------

def slow_start(i):
    """Something that takes long to make, another one for each i."""
    return {"space": {"population": "softmax:" + ",".join(str(k + i / 100) for k in range(20))}, "family": "linear",
            "options": {"strategy": "search"}}


@pytest.mark.plain("it comes again while others keep the cores busy", soak=True)
def test_computing_has_an_end(melicit):
    """What takes longer than a request may is refused with a sentence, and costs no more than that."""
    server = Limited(melicit.folder, "--limits", "compute=1")
    try:
        study = create_study(server)
        with Honest(server, study):
            spent, thread = [], []

            def start():
                begun, threads = cpu_of(server), cpu_of_threads(server)
                outcome = server.at("198.51.100.1").post("/api/start", slow_start(0))
                spent.append(cpu_of(server) - begun)
                thread.append(max(seconds - threads.get(name, 0) for name, seconds in cpu_of_threads(server).items()))
                return outcome

            status, told = told_soon(start)
            if status == 503:  # the clock came first each time: true only where others left it less than a second in six
                assert "neither memory nor time" in told["error"]["message"], told
                assert max(thread) < 1.1 and os.getloadavg()[0] > os.cpu_count(), (thread, os.getloadavg())
            else:
                assert status == 413 and "more than 1 seconds of computing" in told["error"]["message"], told
                assert thread[-1] > 0.9, thread
            assert max(spent) < 4 * SLOW
    finally:
        server.stop()


def cpu_of(server):
    """Seconds of processor time so far."""
    return cpu_in(pathlib.Path(f"/proc/{server.process.pid}/stat"))


def cpu_of_threads(server):
    """The same of each thread."""
    return {file.parent.name: cpu_in(file) for file in pathlib.Path(f"/proc/{server.process.pid}/task").glob("*/stat")}


def cpu_in(stat):
    fields = stat.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@SANITIZERS_SLOW
def test_work_ends_with_its_client(server):
    """Requests whose clients are gone stop within a moment, and starts and uploads of others go on."""
    study = create_study(server)
    body = [json.dumps(slow_start(i)) for i in range(8)]
    with Honest(server, study):
        sockets = []
        for i in range(8):
            head = (f"POST /api/start HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nX-Forwarded-For: 198.51.100.{i}\r\n"
                    f"Content-Type: application/json\r\nContent-Length: {len(body[i])}\r\n\r\n{body[i]}")
            sockets.append(socket.create_connection(("127.0.0.1", server.port)))
            sockets[-1].sendall(head.encode())
        time.sleep(0.3)
        for s in sockets:
            s.close()
        time.sleep(1)
        begun = cpu_of(server)
        client = server.at("203.0.113.1")
        assert client.json("POST", "/api/upload", "a,label\n1,x\n2,y\n", CSV)[0] == 200
        assert client.own(space={"population": "softmax:1,3,5"}, words={}, options={"strategy": "search"})["kind"] == "question"
        time.sleep(1)
        assert cpu_of(server) - begun < 1.0


@SANITIZERS_SLOW
def test_one_address_cannot_take_all_heavy_work(server):
    """Half of what may be heavy at a time is left to others."""
    study = create_study(server)
    pool = concurrent.futures.ThreadPoolExecutor(8)
    attack = [pool.submit(server.at("198.51.100.7", 4).post, "/api/start", slow_start(i)) for i in range(8)]
    with Honest(server, study):
        time.sleep(0.5)
        assert server.at("203.0.113.1").own(space={"data": "breast_cancer_original"})["kind"] == "question"
    outcomes = []
    for future in attack:
        with contextlib.suppress(OSError):
            outcomes.append(future.result()[0])
    pool.shutdown()
    assert 503 in outcomes, outcomes


def test_who_finds_no_place_waits_for_one(server):
    """Starts that are refused at once would be tried again thousands of times a second, which slows everybody down."""
    over, waited = threading.Event(), []

    def start(i):
        while not over.is_set():
            begun = time.monotonic()
            with contextlib.suppress(OSError):  # who has a place is not answered for long
                if server.at(f"198.51.100.{i}", 4 * SLOW).post("/api/start", slow_start(i))[0] == 503:
                    waited.append(time.monotonic() - begun)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i in range(8):
            pool.submit(start, i)
        study = create_study(server)
        with Honest(server, study):
            assert eventually(lambda: len(waited) > 4, 30)
        over.set()
    assert min(waited) > 1, waited


@SANITIZERS_SLOW
def test_results_and_reports_are_heavy_work(server):
    """Reports of large sessions that one address asks for at once: they wait, some are refused, and nobody else waits for them."""
    study = create_study(server)
    people = [server.at("198.51.100.7") for _ in range(6)]
    for person in people:
        person.own(space={"ball": "7", "radius": 0.01}, family="linear", words={}, options={"max_questions": 60})
    with Honest(server, study):
        for path in ("/api/result", "/api/result/report"):
            sockets = []
            for person in people:
                cookies = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
                s = socket.create_connection(("127.0.0.1", server.port), timeout=300)
                s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 198.51.100.7\r\nCookie: {cookies}\r\n\r\n".encode())
                sockets.append(s)
            heads = [s.recv(4096).decode("latin-1") for s in sockets]
            assert {"200"} <= {head[9:12] for head in heads} <= {"200", "503"}, (path, [head[9:12] for head in heads])
            assert all("Retry-After:" in head for head in heads if head[9:12] == "503")
            for s in sockets:
                s.close()
    served_soon(lambda: people[0].get("/api/result")[0])


def answered(sockets, n, seconds):
    """The status of those that are answered until n are, or the time is over."""
    end, heads = time.monotonic() + seconds, {}
    while len(heads) < n and time.monotonic() < end:
        for s in select.select([s for s in sockets if s not in heads], [], [], 1)[0]:
            heads[s] = s.recv(4096)[9:12].decode()
    return sorted(heads.values())


@SANITIZERS_SLOW
def test_what_researchers_have_computed_is_heavy_work(server):
    """Sixteen previews of one address, each as long as a study can make it: two are computed, whatever else that address wants that
    takes long is told to come again, and nobody else waits, neither participants nor other researchers."""
    study = create_study(server)
    long = json.dumps({**small_study(), "space": {"ball": "10", "radius": 0.01}, "words": {}, "elicitation": {"family": "linear", "max_questions": 400},
                       "phases": [{"kind": "elicitation"}, {"kind": "done", "title": "Thanks"}]})
    eager, other = server.at("198.51.100.7"), server.at("198.51.100.8")
    for researcher in (eager, other):
        assert researcher.post("/api/admin/login", {"token": server.token})[0] == 200
    head = (f"POST /api/admin/preview HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 198.51.100.7\r\nX-Melicit-CSRF: {eager.csrf}\r\n"
            f"Cookie: melicit_admin={eager.cookies['melicit_admin']}\r\nContent-Type: application/json\r\nContent-Length: {len(long)}\r\n\r\n")
    asked = [("POST", "/api/admin/studies", small_study()), ("POST", f"/api/admin/studies/{study}/rehearse", {"participants": 1}),
             ("GET", f"/api/admin/studies/{study}/export.csv", None), ("POST", "/api/admin/preview", small_study()),
             ("POST", f"/api/admin/studies/{study}/plan", {"participants": 2, "metric": 7})]
    with contextlib.ExitStack() as stack:
        with Honest(server, study):
            sockets = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(16)]
            for s in sockets:
                s.sendall((head + long).encode())
            assert answered(sockets, 14, 30) == ["503"] * 14
            with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
                outcomes = [status for status, _ in pool.map(lambda request: same_client(server, eager).request(*request), asked)]
            assert outcomes == [503] * len(asked), outcomes
            assert [other.request(*request)[0] for request in asked] == [200] * len(asked)
    for request in asked:
        served_soon(lambda: eager.request(*request)[0])


@SANITIZERS_SLOW
def test_plans_have_bounded_memory(server):
    """Two hundred people of a study whose sessions are large, all in memory at once: refused on the way, and nobody else is."""
    large = {**small_study(), "space": {"ball": "7", "radius": 0.02}, "words": {},
             "elicitation": {"family": "linear", "max_questions": 1, "tolerance": 1e-6, "repeat_every": 0},
             "phases": [{"kind": "elicitation"}, {"kind": "done", "title": "Thanks"}]}
    study, planned, researcher = create_study(server), create_study(server, large), server.researcher()
    with Honest(server, study):
        status, told = researcher.post(f"/api/admin/studies/{planned}/plan", {"participants": 200})
    assert status == 413 and "plan for fewer" in told["error"]["message"], told
    status, told = researcher.post(f"/api/admin/studies/{study}/plan", {"participants": 40, "metric": 7})
    assert status == 200, told


def same_client(server, client, address="198.51.100.7"):
    """Another connection of the same browser."""
    other = server.at(address)
    other.cookies, other.csrf = client.cookies, client.csrf
    return other


@SANITIZERS_SLOW
def test_a_laboratory_is_not_refused(server):
    """People behind one address who all answer a study of many coefficients at the same moment."""
    study = create_study(server, {**small_study(), "space": {"ball": "6", "radius": 0.02}, "words": {},
                                  "elicitation": {"family": "linear", "max_questions": 6},
                                  "phases": [{"kind": "elicitation"}, {"kind": "done", "title": "Thanks"}]})
    people = [server.at("203.0.113.5") for _ in range(4)]

    def take_part(i):
        page = people[i].join(study)
        while page["kind"] == "question":
            status, told = people[i].send(page, {"answer": "A"})
            assert status == 200, told
            page = told["page"]
        assert page["kind"] == "done"

    in_threads(4, take_part)


@SANITIZERS_SLOW
def test_strangers_leave_a_place_for_studies(server):
    """Whatever many addresses compute, the data of a study are read for whoever joins it."""
    study = create_study(server, {**small_study(), "space": {"data": "breast_cancer_original"}, "words": {}})
    server.stop()
    server.start()  # nothing is in memory
    pool = concurrent.futures.ThreadPoolExecutor(12)
    attack = [pool.submit(server.at(f"198.51.100.{i}", 3).post, "/api/start", slow_start(i)) for i in range(12)]
    time.sleep(0.5)
    assert server.at("203.0.113.1").join(study)["seq"] == 1
    outcomes = []
    for future in attack:
        with contextlib.suppress(OSError):
            outcomes.append(future.result()[0])
    pool.shutdown()
    assert 503 in outcomes, outcomes


@SANITIZERS_SLOW
def test_nobody_waits_for_ever_for_the_same_data(melicit):
    """Requests about data that others are reading end by the clock, too, not one after the other."""
    server = Limited(melicit.folder, "--limits", "compute=0.3")
    body = {"space": {"population": "softmax:0,1,2,3,4,5,6,7"}, "family": "linear", "options": {}}
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        outcomes = [status for status, _ in pool.map(lambda i: server.at(f"198.51.100.{i}").post("/api/start", body), range(10))]
    assert 503 in outcomes and set(outcomes) <= {413, 503}, outcomes
    server.stop()


# disk ---------------------------------------------------------------------------------------------

def test_replies_are_not_stored(server, melicit):
    """40 answers take their own bytes in the store, and what is sent again is answered with the same bytes."""
    client = server.at("198.51.100.1")
    page = client.own(**LONG, words={})
    first = None
    for i in range(40):
        body = json.dumps({"seq": page["seq"], "key": f"the-key-{i}", "value": {"answer": "A"}, "seconds": 1})
        status, bytes_ = client.request("POST", "/api/event", body)
        assert status == 200, bytes_
        page = json.loads(bytes_)["page"]
        first = first or (body, bytes_)
    assert len(first[1]) > 2000
    assert client.request("POST", "/api/event", first[0]) == (200, first[1])
    with sqlite3.connect(melicit.folder / "t.db") as db:
        (n, stored), = db.execute("SELECT count(*), sum(length(body)) FROM event")
    assert n == 40 and stored < 40 * 12_000


def test_what_is_sent_has_limits(server):
    """An answer of 4 kB, 4 MB of all of a person's; stale numbers cost nothing."""
    study = create_study(server, small_study(questions=1000))
    client = server.at("198.51.100.1")
    page = client.join(study)
    status, told = client.send(page, {"agreed": True, "version": "1", "note": "x" * 8000})
    assert status == 413 and told["error"]["code"] == "too-large", told
    page = client.answer(page)
    for _ in range(30):
        status, told = client.post("/api/event", {"seq": 999, "key": "stale-key", "value": {}})
        assert status == 409 and told["page"]["seq"] == page["seq"]
    status, told = server.at("198.51.100.2").post("/api/join", {"study": study, "prolific": {"PROLIFIC_PID": "5f2", "more": ["x" * 60_000]}})
    assert status == 400 and told["error"]["message"].startswith("prolific"), told


def test_values_have_the_fields_of_their_page(server):
    """What a page does not ask for is refused and not stored, on every kind of page."""
    study = small_study(questions=2, evaluation=2)
    study["phases"].insert(4, {"kind": "result", "title": "Result"})
    study["phases"].insert(1, {"kind": "text", "title": "Read", "text": "This."})
    client = server.at("198.51.100.1")
    page = client.join(create_study(server, study))
    kinds = set()
    while page["kind"] != "done":
        kinds.add(page["kind"])
        for value in ({**reply_to(page), "more!": "x" * 1000}, {"undo": True, "note": "x"}, {**reply_to(page), "shown": {"note": "x"}}):
            status, told = client.send(page, value)
            assert status == 400 and told["error"]["message"], (page["kind"], told)
        shown = {"shown": {"picture": "flow", "rates": False}} if page["kind"] == "question" else {}
        status, told = client.send(page, {**reply_to(page), **shown})
        assert status == 200, told
        page = told["page"]
    assert kinds == {"consent", "text", "form", "guess", "question", "result"}


def test_stored_bytes_of_an_address_are_limited(melicit):
    """Answers to long questions fill the disk faster than others: their kilobytes count, 100 for each join that is allowed."""
    server = Limited(melicit.folder, "--limits", "joins=4")

    def check(turn):
        client = server.at(f"198.51.100.{2 * turn}")
        page = client.own(**LONG, words={})
        stored, status = 0, 200
        while status == 200 and stored < 300:
            status, told = client.send(page, {"answer": "A"})
            if status == 200:
                page, stored = told["page"], stored + 1
        assert status == 429 and 10 < stored < 120 and int(client.headers["Retry-After"]) >= 1, (status, stored)
        assert client.post("/api/start", OWN)[0] == 429  # two are allowed, but not where so much is stored
        other = server.at(f"198.51.100.{2 * turn + 1}")
        assert other.answer(other.own())["seq"] == 2

    within_a_minute(check)
    server.stop()


def test_starts_count_as_stored_bytes(melicit):
    """What a session was started with is stored as its answers are: all of it together has the limit."""
    server = Limited(melicit.folder, "--limits", "joins=2")

    def check(turn):
        client = server.at(f"198.51.100.{turn}")
        page = client.own(**LONG, words={"people": "p" * 19000, "mistakes": {"missed": "m" * 19000, "false_alarm": "f" * 19000}})
        status = 200
        while status == 200:
            status, told = client.send(page, {"answer": "A"})
            page = told.get("page")
        assert status == 429, told
        with sqlite3.connect(melicit.folder / "t.db") as db:
            person, about = db.execute("SELECT id, length(about) FROM participant ORDER BY created DESC LIMIT 1").fetchone()
            events, last = db.execute("SELECT sum(length(body)), max(length(body)) FROM event WHERE participant = ?", (person,)).fetchone()
        assert about > 57000 and about + events <= 200 * 1024 + last + 1024, (about, events, last)

    within_a_minute(check)
    server.stop()


def test_joins_are_limited_by_address_and_study(server, melicit):
    """120 a minute from one address; a lab of 60 behind another one is let in."""
    def check(turn):
        study = create_study(server)
        attacker = server.at(f"198.51.100.{turn}")
        statuses = []
        for _ in range(300 if SOAK else 140):
            attacker.cookies, attacker.csrf = {}, "first"
            statuses.append(attacker.post("/api/join", {"study": study})[0])
        assert statuses == [200] * 120 + [429] * (len(statuses) - 120)
        assert 1 <= int(attacker.headers["Retry-After"]) <= 60
        lab = [server.at(f"203.0.113.{turn}") for _ in range(60)]
        in_threads(6, lambda i: [c.answer(c.join(study)) for c in lab[i::6]])
        for i in range(121):  # an address of IPv6 is one of many that somebody has
            client = server.at(f"2001:db8:0:{turn}:{i:x}::{i:x}")
            status = client.post("/api/join", {"study": study})[0]
        assert status == 429
        with sqlite3.connect(melicit.folder / "t.db") as db:
            assert db.execute("SELECT count(*) FROM participant WHERE study = ?", (study,)).fetchone()[0] == 120 + 60 + 120

    within_a_minute(check)


def test_joins_of_one_study_are_limited(melicit):
    """From everywhere together, ten times as many as from one address; other studies go on."""
    server = Limited(melicit.folder, "--limits", "joins=2")

    def check(turn):
        studies = [create_study(server), create_study(server)]
        joined = [server.at(f"198.51.{turn}.{i}").post("/api/join", {"study": studies[i // 23]})[0] for i in range(24)]
        assert joined == [200] * 20 + [429] * 3 + [200], joined

    within_a_minute(check)
    server.stop()


# uploads ------------------------------------------------------------------------------------------

def test_strangers_leave_room_for_tables_of_researchers(melicit):
    """An address has an eighth of the room, all strangers half; researchers the rest."""
    server = Limited(melicit.folder, "--limits", "upload-room=0.4")
    table = "a,label\n" + "1,x\n2,y\n" * 6000  # 48 kB

    def send(client):
        return client.json("POST", "/api/upload", table, CSV)[0]

    assert [send(server.at("2001:db8:0:1::%d" % i)) for i in range(3)] == [200, 503, 503]
    assert [send(server.at(f"198.51.100.{i}")) for i in range(8)] == [200] * 3 + [503] * 5
    researcher = server.researcher()
    assert [send(researcher) for _ in range(5)] == [200] * 4 + [503]
    server.stop()


def test_bodies_of_strangers_leave_memory_for_researchers(melicit):
    """Where strangers may not upload, nothing of what they send is kept; where they may, half of the memory is researchers'."""
    head = ("POST /api/upload HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nX-Forwarded-For: 198.51.100.1\r\n"
            "Content-Type: text/csv\r\n%sContent-Length: %d\r\n\r\n")
    server = Limited(melicit.folder, "--public", "--public-url", "https://study.example.org")
    researcher = server.researcher()
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as s:
        s.sendall((head % ("", 32 << 20)).encode())
        assert s.recv(4096).startswith(b"HTTP/1.1 403")  # before a byte of the body was sent
    sockets = []
    for _ in range(3):  # with a cookie that is wrong
        s = socket.create_connection(("127.0.0.1", server.port), timeout=300)
        sockets.append(s)
        with contextlib.suppress(OSError):
            s.sendall((head % ("Cookie: melicit_admin=x\r\n", 32 << 20)).encode() + b"1,2\n" * (6 << 20))
    assert researcher.json("POST", "/api/upload", "a,label\n1,x\n2,y\n" + "1,x\n" * 100_000, CSV)[0] == 200
    for s in sockets:
        s.close()
    server.stop()



def test_slow_uploads_leave_room_for_answers(server):
    """30 uploads that stop in the middle: answers and pages are served, and the bytes do not buy idle time."""
    study = create_study(server)
    head = ("POST /api/upload HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nX-Forwarded-For: 198.51.100.%d\r\n"
            "Content-Type: text/csv\r\nContent-Length: %d\r\n\r\n")
    sockets = []
    with Honest(server, study):
        for i in range(30):
            s = socket.create_connection(("127.0.0.1", server.port), timeout=300)
            with contextlib.suppress(OSError):
                s.sendall((head % (i, 32 << 20)).encode() + b"1,2\n" * 500_000)
            sockets.append(s)
        time.sleep(0.5)
        assert server.at("203.0.113.1").own()["kind"] == "question"
    for s in sockets:
        s.close()


@SANITIZERS_SLOW
def test_bytes_do_not_buy_idle_time(melicit):
    """8 MB at once, then nothing: cut off after the deadline, not after two minutes more."""
    server = Limited(melicit.folder, "--limits", "deadline=1")
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=8) as s:
            s.sendall(b"POST /api/upload HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nContent-Type: text/csv\r\n"
                      b"Content-Length: 33554432\r\n\r\n" + b"1,2\n" * (2 << 20))
            s.settimeout(100)  # where the bytes bought time, the connection would stay for 120 seconds
            with contextlib.suppress(ConnectionError):
                while s.recv(4096):
                    pass
    finally:
        server.stop()


def test_nothing_is_left_in_the_temporary_folder(melicit):
    """An upload that is being read when the server is killed leaves no file: it was never in one."""
    (melicit.folder / "temporary").mkdir()
    server = Limited(melicit.folder, env={"TMPDIR": str(melicit.folder / "temporary")})
    rows = "".join(f"{i % 97},{i % 89},{'xy'[i % 2]}\n" for i in range(150_000))
    client = server.at("198.51.100.1")
    status, told = client.json("POST", "/api/upload", "a,b,label\n" + rows, CSV)
    assert status == 200, told
    body = json.dumps({**OWN, "space": {"data": f"upload:{told['upload']}", "label": "label"}})
    with socket.create_connection(("127.0.0.1", server.port)) as s:
        s.sendall((f"POST /api/start HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nContent-Type: application/json\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
        before, opened = cpu_of(server), set()
        while cpu_of(server) < before + 0.03 and not select.select([s], [], [], 0)[0]:  # until it is at work
            for path in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    opened.add(os.readlink(path))
        server.kill()
    files = {name for name in opened if name.startswith("/") and not name.startswith("/dev/")}
    assert files and all(pathlib.Path(name).name.startswith("t.db") for name in files), files
    assert not list((melicit.folder / "temporary").iterdir())
    assert all(name.startswith(("t.db", "temporary")) for name in os.listdir(melicit.folder)), os.listdir(melicit.folder)


# stopping -----------------------------------------------------------------------------------------

def stop_by_signal(server):
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(timeout=600)
    server.close_pipes()
    assert code == 0


@SANITIZERS_SLOW
def test_stops_in_the_middle_of_work(melicit):
    """Whatever is computed, and while another process keeps the store locked; what was acknowledged is there."""
    server = Limited(melicit.folder)
    study = create_study(server)
    client = server.at("203.0.113.1")
    client.answer(client.join(study))
    pool = concurrent.futures.ThreadPoolExecutor(4)
    attack = [pool.submit(server.at(f"198.51.100.{i}", 20).post, "/api/start", slow_start(i)) for i in range(4)]
    time.sleep(0.5)
    stop_by_signal(server)
    for future in attack:
        with contextlib.suppress(Exception):
            future.result()
    server.start()
    lock = sqlite3.connect(melicit.folder / "t.db", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    attack = [pool.submit(server.at(f"198.51.100.{i}", 20).post, "/api/join", {"study": study}) for i in range(4)]
    time.sleep(0.5)
    stop_by_signal(server)
    for future in attack:
        with contextlib.suppress(Exception):
            future.result()
    pool.shutdown()
    lock.rollback()
    assert lock.execute("SELECT count(*) FROM event").fetchone() == (1,)
    lock.close()


def test_pages_do_not_wait_for_the_store(server, melicit):
    """While the store is locked and all workers wait for it, pages and the health check answer at once."""
    study = create_study(server)
    lock = sqlite3.connect(melicit.folder / "t.db", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    pool = concurrent.futures.ThreadPoolExecutor(40)
    waiting = [pool.submit(server.at(f"198.51.100.{i}", 60).post, "/api/join", {"study": study}) for i in range(40)]
    time.sleep(0.5)
    try:
        for path in ("/health", "/", f"/s/{study}", "/admin"):
            assert server.client().request("GET", path)[0] == 200
            assert not any(join.done() for join in waiting), path
    finally:
        lock.rollback()
        lock.close()
    assert {future.result()[0] for future in waiting} <= {200, 503}
    pool.shutdown()


# how it is built ----------------------------------------------------------------------------------

@pytest.mark.plain("the installed program is the release build")
@pytest.mark.parametrize("name", ["melicit", "libmelicit.so"])
def test_hardened_build(name):
    """Stack protector, fortified calls, read-only relocations, control-flow marks, and no path to load libraries from."""
    def readelf(*options):
        return subprocess.run(["readelf", "-W", *options, str(BUILD / name)], check=True, capture_output=True, text=True).stdout

    dynamic = readelf("-d")
    assert not re.search("RPATH|RUNPATH", dynamic)
    assert "BIND_NOW" in dynamic and "GNU_RELRO" in readelf("-l")
    assert re.search(r"GNU_STACK .* RW ", readelf("-l"))
    symbols = readelf("-s", "--dyn-syms")
    assert "__stack_chk_fail" in symbols and re.search("__(sn|vsn|mem|str|f)?[a-z]+_chk", symbols.replace("__stack_chk_fail", ""))
    if os.uname().machine == "x86_64":
        notes = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--section=.text", str(BUILD / name)], check=True,
                               capture_output=True, text=True).stdout
        assert notes.count("endbr64") > 100


def test_no_library_of_the_current_folder(tmp_path):
    """A library in the folder that the program runs in is not loaded."""
    (tmp_path / "libopenblas.so.0").write_bytes(b"not a library")
    done = subprocess.run([PROGRAM, "--version"], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.plain("what the sanitizers write is not the program's")
def test_a_file_that_may_not_grow_is_a_failure_with_a_sentence(melicit):
    """SIGXFSZ ends nothing."""
    done = subprocess.run([PROGRAM, "train", "--data", "breast_cancer_original", "--out", "m.json"], cwd=melicit.folder, env=environment(),
                          capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY)))
    assert done.returncode == 4 and "m.json" in done.stderr, (done.returncode, done.stderr)


# what others learn --------------------------------------------------------------------------------

def test_results_are_shown_where_the_study_shows_them(server):
    """Not before consent, not without a page for it, not while the evaluation goes on; always in a session of one's own."""
    everything = ("/api/result", "/api/result/metric", "/api/result/session", "/api/result/report")
    with_result = small_study(questions=2, evaluation=2)
    with_result["phases"].insert(4, {"kind": "result", "title": "Result"})
    for study, shown in ((small_study(questions=2, evaluation=2), set()), (with_result, {"result", "done"})):
        client = server.at("203.0.113.1")
        page = client.join(create_study(server, study))
        while True:
            for path in everything:
                status, told = client.request("GET", path)
                assert status == (200 if page["kind"] in shown else 403), (page["kind"], path, told)
            if page["kind"] == "done":
                break
            page = client.answer(page)
    client = server.at("203.0.113.2")
    client.answer(client.own())
    assert [client.request("GET", path)[0] for path in everything] == [200] * 4


def test_participants_see_nothing_of_the_server(melicit):
    """No path, no digest of the data and no internal sentence: in files to take home, and when the data are gone."""
    secret = melicit.folder / "secret-folder"
    secret.mkdir()
    table = secret / "registry.csv"
    table.write_text("a,label\n" + "".join(f"{i % 17},{'xy'[i % 17 > 8 or i % 5 == 0]}\n" for i in range(400)))
    study = {**small_study(questions=2), "space": {"data": str(table), "label": "label"}}
    study["phases"] = [{"kind": "elicitation"}, {"kind": "result", "title": "Result"}, {"kind": "done", "title": "Thanks"}]
    melicit.write("study.json", json.dumps(study))
    made = melicit("study", "create", "study.json", "--store", "t.db", "--json").done().json
    server = Limited(melicit.folder)
    try:
        client = server.at("203.0.113.1")
        page = client.join(made["id"])
        while page["kind"] == "question":
            page = client.answer(page)
        for path in ("/api/page", "/api/result", "/api/result/metric", "/api/result/session", "/api/result/report"):
            status, told = client.request("GET", path)
            assert status == 200
            assert b"registry" not in told and b"secret-folder" not in told and b"sha256" not in told, (path, told[:300])
        server.stop()
        table.unlink()
        server.start()
        client.port, client.connection = server.port, None
        for status, told in (client.get("/api/page"), server.at("203.0.113.2").post("/api/join", {"study": made["id"]})):
            assert status == 503 and told["error"]["code"] == "unavailable" and "registry" not in json.dumps(told), told
    finally:
        server.stop()


def test_strangers_learn_names_not_paths(server):
    """What is wrong with bundled data is said with the name of the file, not with where it is."""
    for key in ("label", "weights", "group", "encoding", "positive"):
        space = {"data": "breast_cancer_original", key: "nope"}
        status, told = server.at("203.0.113.1").post("/api/start", {**OWN, "space": space})
        assert status == 400 and "nope" in told["error"]["message"], told
        assert "/" not in told["error"]["message"] and "/" not in told["error"].get("field", ""), told


def test_a_damaged_store_is_nobodys_fault(melicit):
    """503 with a sentence that says nothing of it, for pages, joins and answers; the browser keeps what it has to send."""
    server = Limited(melicit.folder)
    study = create_study(server)
    clients = [server.at(f"203.0.113.{i}") for i in range(3)]
    pages = [c.answer(c.join(study, label=f"p{i}")) for i, c in enumerate(clients)]
    server.stop()
    with sqlite3.connect(melicit.folder / "t.db") as db:
        ids = [i for i, in db.execute("SELECT id FROM participant ORDER BY label")]
        db.execute("UPDATE event SET body = '{' WHERE participant = ?", (ids[0],))
        db.execute("UPDATE participant SET seed = 'x' WHERE id = ?", (ids[1],))
        db.execute("UPDATE participant SET about = '[' WHERE id = ?", (ids[2],))
    server.start()
    for client, page in zip(clients, pages):
        client.port, client.connection = server.port, None
        for status, told in (client.get("/api/page"), client.send(page, reply_to(page)), client.post("/api/join", {"study": study})):
            assert status == 503 and told["error"]["code"] in ("storage", "unavailable"), told
            assert not re.search("store holds|JSON|line|column|seed|[0-9a-z]{16}", told["error"]["message"]), told
    assert server.at("203.0.113.9").join(study)["seq"] == 1
    server.stop()


def test_uploads_expire_and_can_be_deleted(server, melicit):
    """A stranger's table stays a day, a month once it is used; researchers see all of them and delete what they like."""
    client = server.at("198.51.100.1")
    ids = []
    for _ in range(3):
        status, told = client.json("POST", "/api/upload", "a,label\n" + "1,x\n2,y\n3,x\n2,y\n1,y\n" * 9, CSV)
        assert status == 200
        ids.append(told["upload"])
    client.own(space={"data": f"upload:{ids[1]}", "label": "label"})
    researcher = server.researcher()
    kept = {**small_study(), "space": {"data": f"upload:{ids[2]}", "label": "label"}}
    assert researcher.post("/api/admin/studies", kept)[0] == 200
    server.at("198.51.100.2").own(space={"data": f"upload:{ids[2]}", "label": "label"})
    assert server.at("198.51.100.1").get("/api/admin/uploads")[0] == 403
    listed = {x["id"]: x for x in researcher.get("/api/admin/uploads")[1]["uploads"]}
    days = {i: (x["expires"] - 1000 * time.time()) / 86.4e6 if x["expires"] else None for i, x in listed.items()}
    assert set(listed) == set(ids) and all(x["bytes"] == 188 for x in listed.values())
    assert 0.99 < days[ids[0]] <= 1 and 29.9 < days[ids[1]] <= 30 and days[ids[2]] is None
    assert researcher.json("DELETE", f"/api/admin/uploads/{ids[0]}", {})[0] == 200
    assert ids[0] not in {x["id"] for x in researcher.get("/api/admin/uploads")[1]["uploads"]}
    assert client.post("/api/start", {**OWN, "space": {"data": f"upload:{ids[0]}", "label": "label"}})[0] == 400
    with sqlite3.connect(melicit.folder / "t.db") as db:
        assert db.execute("SELECT count(*) FROM thing WHERE name LIKE 'upload:%'").fetchone() == (2,)


def test_deleted_uploads_leave_no_trace(server, melicit):
    """Neither in the file nor in its log, while the server goes on; the same when their time is over."""
    client, researcher = server.at("198.51.100.1"), server.researcher()

    def send(text):
        status, told = client.json("POST", "/api/upload", f"a,label\n1,{text}\n2,y\n3,x\n", CSV)
        assert status == 200
        return told["upload"]

    def stays(text):
        """Whether it is still there when a while has passed."""
        deadline = time.monotonic() + 300 * SLOW
        while time.monotonic() < deadline:
            if text not in b"".join(p.read_bytes() for p in melicit.folder.glob("t.db*")):
                return False
            time.sleep(0.1)
        return True

    assert researcher.json("DELETE", f"/api/admin/uploads/{send('remember-me')}", {})[0] == 200
    assert not stays(b"remember-me")
    send("until-tomorrow")
    server.stop()
    with sqlite3.connect(melicit.folder / "t.db") as db:
        db.execute("UPDATE thing SET expires = 1 WHERE name LIKE 'upload:%'")
    server.start()
    assert not stays(b"until-tomorrow")


# who somebody is ----------------------------------------------------------------------------------

def of(study, path):
    """As browsers name the study that a request is about."""
    return f"{path}?study={study}"


@pytest.mark.parametrize("who", [{"label": "p01"}, {"prolific": {"PROLIFIC_PID": "5f2"}}], ids=["label", "prolific"])
def test_a_name_alone_takes_nothing_over(server, who):
    """The first browser has a secret; another one needs the code that was shown there. Guessing is limited."""
    study = create_study(server)
    owner = server.at("203.0.113.1")
    page = owner.answer(owner.join(study, **who))
    thief = server.at("198.51.100.1")
    assert thief.post("/api/join", {"study": study, **who})[0] == 409
    guesses = [thief.post("/api/join", {"study": study, **who, "resume": "abcdefghjkmn"}) for _ in range(60)]
    assert {told["error"]["code"] for _, told in guesses} == {"wrong-code", "too-many"} and guesses[0][0] == 403
    assert owner.get("/api/page")[1]["page"] == page
    assert len(page["resume"]) == 12
    other = server.at("203.0.113.2")
    assert other.join(study, **who, resume=page["resume"])["seq"] == page["seq"]
    assert owner.get("/api/page")[0] == 403  # the place moved
    assert "resume" not in server.at("203.0.113.3").join(study)


def test_one_cookie_per_study(server):
    """Two studies in one browser do not know of each other."""
    studies = [create_study(server), create_study(server)]
    client = server.at("203.0.113.1")
    pages = []
    for study in studies:
        client.csrf = "first"
        status, told = client.post(of(study, "/api/join"), {"study": study})
        assert status == 200
        pages.append(told["page"])
    assert set(client.cookies) == {f"melicit_s_{study}" for study in studies}
    for study, page in zip(studies, pages):
        client.csrf = page["csrf"]
        status, told = client.post(of(study, "/api/event"), {"seq": 1, "key": f"key-{study}", "value": reply_to(page)})
        assert status == 200 and told["page"]["study"]["id"] == study
    assert client.get("/api/page")[0] == 403  # a session of one's own would be another thing
    client.csrf = pages[0]["csrf"]
    assert client.post(of(studies[0], "/api/leave"), {})[0] == 200
    assert client.get(of(studies[1], "/api/page"))[0] == 200


def test_two_people_stay_two(server):
    """Somebody else's personal link does not mix with what is under way in this browser."""
    study = create_study(server)
    told = server.researcher().post(f"/api/admin/studies/{study}/links", {"labels": ["a", "b"]})[1]["links"]
    link = {x["label"]: x["url"].split("link=")[1] for x in told}
    client = server.at("203.0.113.1")
    page = client.answer(client.join(study, label="a", link=link["a"]))
    status, told = client.post("/api/join", {"study": study, "label": "b", "link": link["b"]})
    assert status == 409 and told["error"]["code"] == "somebody-else"
    assert client.get("/api/page")[1]["page"] == page
    assert server.at("203.0.113.2").join(study, label="b", link=link["b"])["seq"] == 1
    client.walk(page)  # whoever is through leaves the browser to the next one
    assert client.join(study, label="b", link=link["b"])["seq"] == 1


def test_leaving_revokes(server):
    """A copy of the cookie is worth nothing afterwards."""
    client = server.at("203.0.113.1")
    client.own()
    copy = server.at("198.51.100.1")
    copy.cookies = dict(client.cookies)
    assert copy.get("/api/page")[0] == 200
    assert client.post("/api/leave", {})[0] == 200 and client.cookies["melicit"] == ""
    assert copy.get("/api/page")[0] == 403


def test_leaving_revokes_the_code(server):
    """Nor is the code that was shown; whoever comes back by their link gets another one, which works."""
    study = create_study(server)
    told = server.researcher().post(f"/api/admin/studies/{study}/links", {"labels": ["a"]})[1]
    link = told["links"][0]["url"].split("link=")[1]
    client = server.at("203.0.113.1")
    codes = []
    for _ in range(3):
        page = client.answer(client.join(study, label="a", link=link))
        codes.append(page["resume"])
        page = server.at("203.0.113.2").join(study, label="a", resume=codes[-1])
        assert page["resume"] == codes[-1]
        client.cookies, client.csrf = {}, "first"
        client.join(study, label="a", resume=codes[-1])
        assert client.post("/api/leave", {})[0] == 200
        client.cookies, client.csrf = {}, "first"
        for code in codes:
            status, told = server.at("198.51.100.1").post("/api/join", {"study": study, "label": "a", "resume": code})
            assert status == 403 and told["error"]["code"] == "wrong-code", told
    assert len(set(codes)) == 3


def test_quotas_hold_when_all_come_at_once(server):
    """40 at the same moment for 10 seats: 10 are in."""
    study = create_study(server, small_study(quota=10, questions=2, evaluation=2))
    assert server.researcher().post(f"/api/admin/studies/{study}/rehearse", {"participants": 3, "metric": 7})[0] == 200
    outcomes = []

    def come(i):
        client = server.at(f"203.0.113.{i}")
        status, told = client.post("/api/join", {"study": study})
        outcomes.append((status, told.get("error", {}).get("code")))
        if status == 200:
            client.walk(told["page"])

    in_threads(40, come)
    assert sorted(outcomes, key=str) == sorted([(200, None)] * 10 + [(409, "full")] * 30, key=str)


# requests -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("host, status", [
    ("evil.example", 421), ("evil.example:{port}", 421), ("127.0.0.1.evil.example", 421), ("localhost.evil.example", 421), ("", 421),
    ("[::1].evil.example", 421), ("127.0.0.1:{port}", 403), ("localhost", 403), ("LOCALHOST:{port}", 403), ("[::1]:{port}", 403),
    ("192.0.2.7", 403),
])
def test_the_server_goes_by_its_own_names(server, host, status):
    """A name that was made to lead here (DNS rebinding) is refused before anything else; 403 is the answer without a cookie."""
    got, _ = server.raw(f"GET /api/page HTTP/1.1\r\nHost: {host.format(port=server.port)}\r\nConnection: close\r\n\r\n".encode())
    assert int(got.split()[1]) == status, got[:200]


def test_public_names_and_links(melicit):
    """Links are built from the configuration, whatever the request says."""
    server = Limited(melicit.folder, "--public-url", "https://study.example.org")
    try:
        researcher = server.at("203.0.113.1")
        as_public = {"Host": "study.example.org", "Origin": "https://study.example.org"}
        assert researcher.json("POST", "/api/admin/login", {"token": server.token}, as_public)[0] == 200
        status, told = researcher.json("POST", "/api/admin/studies", small_study(), as_public)
        assert status == 200 and told["links"]["anonymous"] == f"https://study.example.org/s/{told['id']}"
        status, told = researcher.json("POST", "/api/admin/studies", small_study(), {**as_public, "Origin": "https://evil.example"})
        assert status == 403
        assert researcher.json("GET", "/api/admin/studies", None, {"Host": "evil.example"})[0] == 421
        status, told = researcher.json("POST", "/api/admin/studies", small_study(), {"Host": "192.0.2.7"})
        assert status == 200 and told["links"]["anonymous"].startswith("https://study.example.org/")
    finally:
        server.stop()
    server = Limited(melicit.folder, store="other.db")
    try:
        researcher = server.researcher()
        status, told = researcher.json("POST", "/api/admin/studies", small_study(), {"Host": "192.0.2.7"})
        assert status == 200 and told["links"]["anonymous"].startswith(f"http://127.0.0.1:{server.port}/s/")
    finally:
        server.stop()


@pytest.mark.parametrize("lines", [b"X-A : b", b" : x", b"X-A: b\rX-B: c", b"X-A: b\r", b"X-A: \rb", b"X\0A: b"])
def test_headers_that_others_read_differently(server, lines):
    """Refused, in the middle and at the end; the connection is closed."""
    for head in (b"Host: localhost\r\n" + lines + b"\r\n", b"Host: localhost\r\n" + lines + b"\r\nX-Z: z\r\n"):
        got, closed = server.raw(b"GET /health HTTP/1.1\r\n" + head + b"\r\n")
        assert got.startswith(b"HTTP/1.1 400") and closed, got[:100]
    fine = b"GET /health?a=b HTTP/1.1\r\nHost: localhost\r\nX-A: b \t\r\nX-B:c\r\nX-C:\r\nCookie: a=b; c=d\r\nConnection: close\r\n\r\n"
    assert server.raw(fine)[0].startswith(b"HTTP/1.1 200")


def test_paths_are_unescaped_once_and_whole(server):
    """A NUL does not end a path, and what it unescapes to is not unescaped again."""
    for path, status in (("/heal%74h", 200), ("/health%00", 404), ("/health%00/x", 404), ("/heal%2574h", 404), ("/health%", 404), ("/health%7", 404)):
        got = server.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())[0]
        assert int(got.split()[1]) == status, (path, got[:100])


def test_a_line_feed_does_not_begin_a_cell(server):
    """What a spreadsheet would run after an empty line is a text."""
    study = create_study(server)
    client = server.at("203.0.113.1")
    page = client.answer(client.join(study, label="\n=1+1"))
    client.send(page, {"age": 3, "note": "\n=cmd"})
    told = server.researcher().request("GET", f"/api/admin/studies/{study}/export.csv")[1].decode()
    assert "\"'\n=1+1\"" in told and '"\n=' not in told


def test_blanks_and_wide_signs_begin_no_formula(server):
    """Spreadsheets look past a blank, and take a full-width sign for a plain one."""
    study = create_study(server)
    beginnings = [" =", "\u00a0=", "\u3000=", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
    for begins in beginnings:
        client = server.at("203.0.113.1")
        client.answer(client.join(study, label=f"{begins}1+1"))
    told = server.researcher().request("GET", f"/api/admin/studies/{study}/export.csv")[1].decode()
    for begins in beginnings:
        assert f"\"'{begins}1+1\"" in told and f'"{begins}' not in told, begins


def test_pages_come_by_http(server):
    """An Origin of another scheme is another origin, whatever its host."""
    for scheme, status in (("http", 200), ("https", 200), ("ftp", 403), ("chrome-extension", 403), ("", 403)):
        client = server.at("203.0.113.1")
        assert client.json("POST", "/api/start", OWN, {"Origin": f"{scheme}://127.0.0.1:{server.port}"})[0] == status, scheme


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "pipe", "/etc/passwd", "../outside.csv", "link.csv", "folder", "-"])
def test_a_session_names_no_other_files(melicit, name):
    """report opens what is next to the session, no device, pipe or file elsewhere, and does not wait for any."""
    home = melicit.folder / "home"
    home.mkdir()
    table = "a,label\n" + "".join(f"{i % 17},{'xy'[i % 17 > 8 or i % 5 == 0]}\n" for i in range(400))
    (home / "table.csv").write_text(table)
    (melicit.folder / "outside.csv").write_text(table + "1,x\n")
    (home / "folder").mkdir()
    os.mkfifo(home / "pipe")
    (home / "link.csv").symlink_to(melicit.folder / "outside.csv")

    def run(*words):
        return subprocess.run([PROGRAM, *words], cwd=home, env=environment(), capture_output=True, text=True, timeout=600, input="")

    made = run("elicit", "--data", "table.csv", "--oracle", "cmd:sed -u s/.*/A/", "--max-questions", "3", "--session", "s.jsonl")
    assert made.returncode == 0, made.stderr
    assert run("report", "--session", "s.jsonl").returncode == 0
    header, *rest = (home / "s.jsonl").read_text().splitlines()
    told = json.loads(header)
    field = next(k for k in told["space"] if told["space"][k] == "table.csv")
    told["space"][field] = name
    (home / "s.jsonl").write_text("\n".join([json.dumps(told), *rest]) + "\n")
    done = run("report", "--session", "s.jsonl", "--out", "r.html")
    assert done.returncode == 3 and not (home / "r.html").exists(), (done.returncode, done.stderr)
    assert "root:" not in done.stderr and "--data" in done.stderr


def test_no_character_is_cut(server):
    """A sentence about a long text is whole characters, and an answer at all."""
    client = server.at("203.0.113.1")
    for n in range(30, 62):
        status, told = client.post("/api/start", {**OWN, "space": {"x" * n + "\u20ac\U0001F600" * 30: 1}})
        assert status == 400 and "\ufffd" not in told["error"]["message"], told


def test_long_names_of_classes(server):
    """The names of classes that a session gives are short; a table may have longer ones, which are cut nowhere."""
    client = server.at("203.0.113.1")
    status, told = client.post("/api/start", {**OWN, "space": {**OWN["space"], "classes": ["a", "x" + "\u20ac" * 300]}})
    assert status == 400 and "classes" in told["error"]["message"], told
    for i in range(3):
        name = "y" * i + "\u20ac" * 300
        table = "a,label\n" + "".join(f"{r % 17},{name if r % 17 > 8 or r % 5 == 0 else 'x'}\n" for r in range(90))
        status, told = client.json("POST", "/api/upload", table.encode(), CSV)
        assert status == 200
        client.cookies, client.csrf = {}, "first"
        space = {"data": f"upload:{told['upload']}", "label": "label", "positive": name}
        page = client.own(space=space, options={"max_questions": 2})
        while page["kind"] == "question":
            page = client.answer(page)
        assert page["kind"] == "result" and page["result"]["threshold"]["positive"] == name
    name = 'x"\nimport os'
    client.cookies, client.csrf = {}, "first"
    page = client.own(space={"data": "breast_cancer_original", "classes": ["a", name]}, options={"max_questions": 2})
    while page["kind"] == "question":
        page = client.answer(page)
    assert "import os" not in page["result"]["python"]
    assert f"a,{name}" in shlex.split(page["result"]["command"])  # one word of the shell, whatever is in it


# running it ---------------------------------------------------------------------------------------

def test_other_machines_are_let_in_on_purpose(melicit):
    """Listening beyond this machine needs --public, which needs TLS in front."""
    for words, said in ((["--listen", "0.0.0.0"], "--public"), (["--listen", "::"], "--public"), (["--public"], "--public-url"),
                        (["--public", "--public-url", "http://study.example.org"], "https"), (["--strangers"], "--public")):
        done = subprocess.run([PROGRAM, "serve", "--port", "0", "--limits", "stop-after=0.1", *words], cwd=melicit.folder, env=environment(),
                              capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr, (words, done.stderr)


def test_public_without_a_trusted_proxy(melicit):
    """All participants would share the limits of one address: that is said at the start."""
    words = ["serve", "--port", "0", "--limits", "stop-after=0.1", "--public", "--public-url", "https://study.example.org"]
    for more, warned in (([], True), (["--trust-proxy", "127.0.0.1"], False)):
        done = subprocess.run([PROGRAM, *words, *more], cwd=melicit.folder, env=environment(), capture_output=True, text=True)
        assert done.returncode == 0 and ("--trust-proxy" in done.stderr) == warned, done.stderr


def test_every_route_has_a_request(server):
    """What tests and the fuzzer send to every route is what the server's own pages send there, and does what it says."""
    scene = Scene(server)
    requests = scene.requests()
    assert set(requests) == set(routes()) and len(ENDING & set(requests)) == len(ENDING)
    # A wrong token, a label with a wrong link, somebody else in the same browser, an answer of before or to another page.
    others = {"/api/admin/login": {403}, "/api/join": {200, 403, 409}, "/api/undo": {200, 400, 409}, "/api/event": {200, 400, 409}}
    for route in sorted(requests, key=lambda route: route in ENDING):
        for who, path, body in requests[route]:
            status, told = who.request(route[0], path, body, CSV if isinstance(body, str) else None)
            assert status in others.get(path, {200}), (route, path, told)
            if path in ("/api/start", "/api/join") and status == 200:
                who.csrf = json.loads(told)["page"]["csrf"]
        if route in ENDING:
            scene = Scene(server)
            requests = scene.requests()


def test_nothing_is_given_without_a_cookie(melicit):
    """On a server where strangers only take part in studies: every other route is refused, whatever its body names, and stores nothing."""
    server = Limited(melicit.folder)
    scene = Scene(server)
    requests = scene.requests()
    server.stop()
    server.options += ("--public", "--public-url", "https://study.example.org")
    server.start()
    for (method, route), sent in requests.items():
        if route in ("/api/join", "/api/datasets", "/api/shared/*/*"):
            continue
        for _, path, body in sent:
            stranger = server.at("198.51.100.1")
            status, told = stranger.request(method, path, body, CSV if isinstance(body, str) else None)
            assert status == 403 or route in ("/api/leave", "/api/admin/logout"), (method, path, status, told)
            assert "Set-Cookie" not in stranger.headers or "Max-Age=0" in stranger.headers["Set-Cookie"], path
            closed = route in ("/api/start", "/api/check", "/api/upload", "/api/columns")
            assert not closed or json.loads(told)["error"]["code"] == "closed" or route == "/api/upload", told
    server.stop()


def test_decisions_ask_first_who_wants_them(server):
    """Whether there is such an upload is not said, and no table read, before it is clear that the person may see a result."""
    scene = Scene(server)
    participant = server.at("203.0.113.1")
    participant.join(scene.study)
    for who, code in ((server.at("198.51.100.1"), "no-session"), (participant, "not-now")):
        for upload in (scene.upload, "nothing"):
            status, told = who.post("/api/decisions", {"upload": upload, "columns": ["b"]})
            assert status == 403 and told["error"]["code"] == code, (upload, told)


def test_deleted_studies_leave_nothing_behind(server, melicit):
    """Notes of personal links and of being archived go with the study; those of other studies stay."""
    researcher = server.researcher()
    studies = [create_study(server), create_study(server)]
    for study in studies:
        assert researcher.post(f"/api/admin/studies/{study}/links", {"labels": ["a", "b"]})[0] == 200
        assert researcher.post(f"/api/admin/studies/{study}/state", {"state": "archived"})[0] == 200

    def notes():
        with sqlite3.connect(melicit.folder / "t.db") as db:
            return [sum(study in name for name, in db.execute("SELECT name FROM thing")) for study in studies]

    assert notes() == [4, 4]
    assert researcher.json("DELETE", f"/api/admin/studies/{studies[0]}", {})[0] == 200
    assert researcher.json("GET", f"/api/admin/studies/{studies[0]}")[0] == 404
    assert eventually(lambda: notes() == [0, 4])


@pytest.mark.parametrize("strangers", [False, True])
def test_public_server(melicit, strangers):
    """Strangers join studies; sessions of one's own and uploads are the researchers' unless asked for. Cookies are for TLS."""
    server = Limited(melicit.folder, "--listen", "0.0.0.0", "--public", "--public-url", "https://study.example.org",
                     *(["--strangers"] if strangers else []))
    try:
        study = create_study(server)
        client = server.at("203.0.113.1")
        assert client.join(study)["seq"] == 1 and "; Secure" in client.headers["Set-Cookie"]
        stranger, researcher = server.at("198.51.100.1"), server.researcher()
        table = "a,label\n1,x\n2,y\n"
        assert stranger.json("POST", "/api/upload", table, CSV)[0] == (200 if strangers else 403)
        assert stranger.post("/api/start", OWN)[0] == (200 if strangers else 403)
        assert researcher.json("POST", "/api/upload", table, CSV)[0] == 200
        assert researcher.post("/api/start", OWN)[0] == 200
    finally:
        server.stop()


def test_the_key_in_a_file_of_its_own(melicit):
    """Servers share it, the store alone is worth nothing, another key is refused, and tokens made before go on."""
    server = Limited(melicit.folder)
    study = create_study(server)
    client = server.at("203.0.113.1")
    page = client.answer(client.join(study))
    server.stop()
    server = Limited(melicit.folder, "--key", "server.key")
    server.stop()
    path = melicit.folder / "server.key"
    key = path.read_text()
    assert re.fullmatch("[0-9a-f]{64}\n", key) and path.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(melicit.folder / "t.db") as db:
        stored, = db.execute("SELECT bytes FROM thing WHERE name = 'key'").fetchone()
    assert len(stored) == 16 and bytes.fromhex(key) not in (melicit.folder / "t.db").read_bytes()
    server.start()
    client.port, client.connection = server.port, None
    assert client.get("/api/page")[1]["page"] == page
    server.stop()

    def refused(*words):
        done = subprocess.run([PROGRAM, *words, "--store", "t.db"], cwd=melicit.folder, env=environment(), capture_output=True, text=True)
        assert done.returncode == 2, (words, done.stderr)
        return done.stderr

    assert "--key" in refused("study", "token")
    assert "--key" in refused("serve", "--port", "0", "--limits", "stop-after=0.1")
    melicit("study", "token", "--store", "t.db", "--key", "server.key").done()
    path.chmod(0o644)
    assert "chmod 600" in refused("study", "token", "--key", "server.key")
    path.chmod(0o600)
    path.write_text("0" * 64 + "\n")
    assert "another key" in refused("study", "token", "--key", "server.key")
    path.unlink()
    assert "server.key does not exist" in refused("study", "token", "--key", "server.key")


def test_logs_say_who_did_what_and_nothing_else(melicit):
    """A line per request without tokens, labels or answers; what researchers do is in a log of its own."""
    server = Limited(melicit.folder, "--log", "requests.log", "--log", "audit=audit.log")
    study = create_study(server)
    client = server.at("203.0.113.1")
    page = client.answer(client.join(study, label="a-secret-label"))
    client.send(page, {"age": 33, "note": "a-secret-note"})
    researcher = server.researcher()
    researcher.post(f"/api/admin/studies/{study}/state", {"state": "closed"})
    sharer = server.at("203.0.113.2")
    sharer.own()
    _, ident, proof = sharer.post("/api/share", {})[1]["path"].strip("/").split("/")
    server.at("203.0.113.3").get(f"/api/shared/{ident}/{proof}")
    secrets = [*client.cookies.values(), *researcher.cookies.values(), server.token, "a-secret-label", "a-secret-note", client.csrf, proof]
    server.stop()
    texts = [(melicit.folder / name).read_text() for name in ("requests.log", "audit.log")]
    assert not any(secret in text for secret in secrets for text in texts)
    requests, audit = ([json.loads(line) for line in text.splitlines()] for text in texts)
    assert {"/api/join", "/api/event", "/api/shared"} < {x["path"] for x in requests} and all(x["path"].startswith("/api/admin") for x in audit)
    last = audit[-1]
    assert last["path"] == f"/api/admin/studies/{study}/state" and last["method"] == "POST" and last["status"] == 200
    assert re.fullmatch("[0-9a-f]{8}", last["researcher"]) and abs(last["time"] / 1000 - time.time()) < 600 and last["ms"] >= 0
    assert (melicit.folder / "audit.log").stat().st_mode & 0o777 == 0o600


def test_nobody_fills_the_disk_through_the_logs(melicit):
    """Requests that lead nowhere, anonymous ones for researchers, wrong tokens: few and short lines, none of them in the audit log
    but the first wrong tokens; then such requests are refused."""
    server = Limited(melicit.folder, "--log", "requests.log", "--log", "audit=audit.log", "--limits", "joins=2")
    client = server.at("203.0.113.1")
    seen = set()
    for i in range(60):
        seen.add(client.request("GET", "/api/" + "x" * 9000 + str(i))[0])
        seen.add(client.request("GET", f"/api/admin/studies/{i}")[0])
        seen.add(client.request("GET", f"/nothing.here{i}")[0])
        seen.add(client.request("X" * 3000, "/api/page")[0])
        seen.add(client.post("/api/admin/login", {"token": "wrong"})[0])
        seen.add(client.request("POST", "/api/admin/login", {"token": "wrong"}, {"X-Melicit-CSRF": None})[0])
    assert {403, 404, 405, 429} <= seen, seen
    assert any(server.at("203.0.113.2").request("GET", "/api/admin/studies")[0] == 429 for _ in range(1300))
    researcher = server.researcher()
    assert researcher.get("/api/admin/studies")[0] == 200
    assert researcher.json("POST", "/api/upload", "a,label\n1,x\n2,y\n", CSV)[0] == 200
    server.stop()
    texts = [(melicit.folder / name).read_text() for name in ("requests.log", "audit.log")]
    requests, audit = ([json.loads(line) for line in text.splitlines()] for text in texts)
    assert max(map(len, (texts[0] + texts[1]).splitlines())) < 500
    of_client = [x for x in requests if x["client"] == "203.0.113.1"]
    assert len(of_client) <= 2 * 41 and any(x.get("left_out") for x in of_client)  # a minute may end meanwhile
    assert {x.get("path") for x in of_client} <= {"other", "/api/admin/login", None, *(f"/api/admin/studies/{i}" for i in range(60))}
    wrong = [x for x in audit if x["client"] == "203.0.113.1"]
    assert 0 < len(wrong) <= 2 * 20 and {(x["path"], x["status"]) for x in wrong} == {("/api/admin/login", 403)}
    assert [x["path"] for x in audit if x not in wrong] == ["/api/admin/login", "/api/admin/studies", "/api/upload"]
    assert re.fullmatch("[a-z0-9]{16}", audit[-1]["upload"]) and re.fullmatch("[0-9a-f]{8}", audit[-1]["researcher"])


def test_erasure_reaches_uploads_and_the_audit_log(melicit):
    """People see and erase their own table, unless somebody else's session or a study is about it; who was erased, in whatever way,
    is in the audit log."""
    server = Limited(melicit.folder, "--log", "audit=audit.log")
    study = create_study(server)
    client = server.at("203.0.113.1")
    uploads = []
    for _ in range(3):
        status, told = client.json("POST", "/api/upload", "a,label\n" + "1,x\n2,y\n3,x\n2,y\n1,y\n" * 9, CSV)
        assert status == 200
        uploads.append(told["upload"])
    spaces = [{"data": f"upload:{x}", "label": "label"} for x in uploads]
    server.at("203.0.113.2").own(space=spaces[1])
    researcher = server.researcher()
    assert researcher.post("/api/admin/studies", {**small_study(), "space": spaces[2]})[0] == 200
    for space, upload in zip(spaces, uploads):
        client.cookies, client.csrf = {}, "first"
        client.own(space=space)
        status, told = client.get("/api/mine")
        assert status == 200 and told["uploads"] == [upload] and told["about"]["start"]["space"] == space and "study" not in told
        assert client.post("/api/erase", {})[0] == 200
    assert {x["id"] for x in researcher.get("/api/admin/uploads")[1]["uploads"]} == set(uploads[1:])
    for i in range(4):
        person = server.at("203.0.113.3")
        prolific = {"PROLIFIC_PID": f"p{i}", "STUDY_ID": "s"}
        person.answer(person.join(study, prolific=prolific))
        told = person.get("/api/mine")[1]
        assert told["about"]["prolific"] == prolific and told["study"] == study and told["label"] == f"p{i}"
    with sqlite3.connect(melicit.folder / "t.db") as db:
        ids = [i for i, in db.execute("SELECT id FROM participant WHERE study = ? ORDER BY label", (study,))]
    assert researcher.json("DELETE", f"/api/admin/studies/{study}/participants/{ids[0]}", {})[0] == 200
    melicit("study", "delete", study, ids[1], "--store", "t.db", "--log", "audit=audit.log").done()
    assert person.post("/api/erase", {})[0] == 200
    server.stop()
    with sqlite3.connect(melicit.folder / "t.db") as db:
        assert {i for i, in db.execute("SELECT id FROM participant WHERE study = ?", (study,))} == {ids[2]}
    lines = [json.loads(line) for line in (melicit.folder / "audit.log").read_text().splitlines()]
    erased = [(x["erased"], x["study"], x["by"]) for x in lines if "erased" in x]
    assert erased[3:] == [(ids[0], study, "researcher"), (ids[1], study, "command"), (ids[3], study, "participant")]
    assert [(x[1], x[2]) for x in erased[:3]] == [("alone", "participant")] * 3 and len({x[0] for x in erased}) == 6
    with sqlite3.connect(melicit.folder / "t.db") as db:
        left, = db.execute("SELECT id FROM participant WHERE study = 'alone'").fetchone()
        melicit("study", "delete", "alone", left, "--store", "t.db").done()  # the session of the second upload
        assert {x for x, in db.execute("SELECT name FROM thing WHERE name LIKE 'upload:%'")} == {f"upload:{uploads[2]}"}


def test_erasure_reaches_tables_in_pieces(server, melicit):
    """Of a table above 1 MB nothing is left once its owner is erased, by themselves or, in a backup, on the command line; what another
    session is about stays."""
    client, other = (server.at(f"203.0.113.{i}") for i in (1, 2))
    zeros = "0" * 60
    status, told = client.json("POST", "/api/upload", "a,label\n" + "".join(f"{i % 7}.{zeros},{'xy'[i * i % 5 % 2]}\n" for i in range(20_000)), CSV)
    assert status == 200, told
    space = {"data": f"upload:{told['upload']}", "label": "label"}
    pieces = "SELECT count(*) FROM piece"
    for person in (client, other):
        person.own(space=space)
    assert client.post("/api/erase", {})[0] == 200
    assert rows_of(melicit, pieces)[0][0] >= 2 and other.get("/api/page")[0] == 200
    server.stop()
    shutil.copy(melicit.folder / "t.db", melicit.folder / "backup.db")
    (left,), = rows_of(melicit, "SELECT id FROM participant WHERE study = 'alone'")
    melicit("study", "delete", "alone", left, "--store", "backup.db").done()
    assert zeros.encode() in (melicit.folder / "t.db").read_bytes()
    assert zeros.encode() not in (melicit.folder / "backup.db").read_bytes()
    server.start()
    other.port, other.connection = server.port, None
    assert other.post("/api/erase", {})[0] == 200
    assert rows_of(melicit, pieces) == [(0,)]


def test_people_take_and_erase_their_data(server, melicit):
    """Whoever has the cookie sees all that is stored of them, and can erase it; nobody else loses anything."""
    study = create_study(server)
    people = [server.at(f"203.0.113.{i}") for i in range(2)]
    pages = [c.answer(c.join(study)) for c in people]
    people[0].send(pages[0], {"age": 33, "note": "remember-me"})
    status, told = people[0].get("/api/mine")
    assert status == 200 and [e["event"]["page"] for e in told["events"]] == ["consent", "form"]
    assert told["events"][1]["event"]["value"]["note"] == "remember-me" and told["created"] > 0
    assert people[0].post("/api/erase", {}, **{"X-Melicit-CSRF": "first"})[0] == 403
    assert people[0].post("/api/erase", {})[0] == 200
    assert people[0].cookies["melicit"] == "" and people[1].get("/api/page")[1]["page"] == pages[1]
    server.stop()
    assert b"remember-me" not in b"".join(p.read_bytes() for p in melicit.folder.glob("t.db*"))
    server.start()


def test_studies_are_forgotten_when_their_time_is_over(melicit):
    """retention_days: whoever was not seen for longer is deleted by the hourly clean-up; others and other studies stay."""
    server = Limited(melicit.folder, "--log", "audit=audit.log")
    short, long = create_study(server, small_study(retention_days=30)), create_study(server)
    clients = [server.at("203.0.113.1") for _ in range(3)]
    for client, study in zip(clients, (short, short, long)):
        client.answer(client.join(study))
    server.stop()
    with sqlite3.connect(melicit.folder / "t.db") as db:
        ids = [i for i, in db.execute("SELECT id FROM participant ORDER BY created")]
        month = 31 * 86_400_000
        db.execute("UPDATE participant SET seen = seen - ? WHERE id IN (?, ?)", (month, ids[0], ids[2]))
    server.start()
    deadline = time.monotonic() + 300 * SLOW
    while time.monotonic() < deadline:
        with sqlite3.connect(melicit.folder / "t.db") as db:
            left = {i for i, in db.execute("SELECT id FROM participant")}
        if left == set(ids[1:]):
            break
        time.sleep(0.1)
    assert left == set(ids[1:])
    deadline = time.monotonic() + 300 * SLOW
    while ids[0] not in (melicit.folder / "audit.log").read_text() and time.monotonic() < deadline:
        time.sleep(0.1)
    lines = [json.loads(line) for line in (melicit.folder / "audit.log").read_text().splitlines()]
    assert [(x["erased"], x["study"], x["by"]) for x in lines if "erased" in x] == [(ids[0], short, "retention")]
    researcher = server.researcher()
    status, told = researcher.post("/api/admin/studies", small_study(retention_days=-1))
    assert status == 400 and "retention_days" in told["error"]["message"]
    server.stop()


def test_shares_of_rows_that_leave_none(server):
    """Numbers of a space out of their range: refused with a sentence, and the server goes on."""
    for space in ({"test_share": 0}, {"test_share": -0.5}, {"test_share": 1e-9}, {"test_share": 2}, {"l2": -1}):
        status, told = server.at("203.0.113.9").post("/api/start", {**OWN, "space": {"data": "breast_cancer_original", **space}})
        assert status == 400 and next(iter(space)).replace("_", "-") in told["error"]["message"], told
    status, told = server.at("203.0.113.9").post("/api/start", {**OWN, "space": {"population": "softmax:1,3,5", "radius": -1}})
    assert status == 400 and "radius" in told["error"]["message"], told


# how it is deployed -------------------------------------------------------------------------------

def through_tls(port, method, path, body=None, **headers):
    """Status, headers and bytes of one request to study.example.org at this port."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.sock = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 20), server_hostname="study.example.org")
    connection.request(method, path, body, {"Host": f"study.example.org:{port}", "X-Melicit-CSRF": "first",
                                            "Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), data


SMUGGLED = b"GET /api/datasets HTTP/1.1\r\nHost: study.example.org\r\n\r\n"
UNUSUAL_HEADS = [b"%sX-A: b\r\n c\r\n", b"X-A: b\r\n\t%s", b"X-A: b\r\n \r\n%s", b": x\r\n%s", b":\r\n%s", b"%s: x\r\n", b"X-A: b\n%s", b"X-A: b\r%s",
                 b"X-A: b\0\r\n%s", b"\n%s", b"\r%s", b"\r\n %s"]


def send_smuggled(port):
    """Heads that readers of HTTP may end at different places, around a body that is a request itself."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for head in UNUSUAL_HEADS:
        with context.wrap_socket(socket.create_connection(("127.0.0.1", port), 20), server_hostname="study.example.org") as s:
            s.sendall(b"POST /api/join HTTP/1.1\r\nHost: study.example.org\r\nConnection: close\r\n" +
                      head % (b"Content-Length: %d\r\n" % len(SMUGGLED)) + b"\r\n" + SMUGGLED)
            with contextlib.suppress(OSError):
                while s.recv(65536):
                    pass


@pytest.mark.plain("about the files of deploy/")
@pytest.mark.parametrize("proxy", ["nginx", "caddy"])
def test_proxies(melicit, proxy):
    """The files of deploy/ as they are, but for ports and certificates: TLS, cookies, whose address counts, size of uploads."""
    folder, (port, plain) = melicit.folder, free_ports(2)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=study.example.org", "-days", "1",
                    "-keyout", "key.pem", "-out", "cert.pem", "-addext", "subjectAltName=DNS:study.example.org"],
                   cwd=folder, check=True, capture_output=True)
    server = Limited(folder, "--public", "--public-url", f"https://study.example.org:{port}", "--log", "requests.log")
    study = create_study(server)
    if proxy == "nginx":
        text = (SOURCE / "deploy" / "nginx.conf").read_text()
        for old, new in (("127.0.0.1:8080", f"127.0.0.1:{server.port}"), ("listen 443", f"listen 127.0.0.1:{port}"),
                         ("listen 80", f"listen 127.0.0.1:{plain}"), ("/var/log/nginx/melicit.log", str(folder / "nginx.log")),
                         ("/var/log/nginx/melicit-error.log", str(folder / "site-error.log")),
                         ("/etc/letsencrypt/live/study.example.org/fullchain.pem", str(folder / "cert.pem")),
                         ("/etc/letsencrypt/live/study.example.org/privkey.pem", str(folder / "key.pem"))):
            assert old in text
            text = text.replace(old, new)
        melicit.write("site.conf", text)
        melicit.write("main.conf", f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}} http {{ "
                      f"client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f; "
                      f"uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; include {folder}/site.conf; }}")
        command = ["/usr/sbin/nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "main.conf")]
    else:
        text = (SOURCE / "deploy" / "Caddyfile").read_text()
        assert "\nstudy.example.org {" in text and "127.0.0.1:8080" in text
        text = text.replace("\nstudy.example.org {", f"\nhttps://study.example.org:{port} {{\n\ttls {folder}/cert.pem {folder}/key.pem")
        assert "\n{\n" in text
        text = text.replace("\n{\n", f"\n{{\n\tadmin off\n\thttp_port {plain}\n", 1)
        melicit.write("Caddyfile", text.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}"))
        command = ["/usr/bin/caddy", "run", "--config", str(folder / "Caddyfile")]
    with open(folder / "proxy.out", "wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, env={**environment(), "HOME": str(folder)})
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                status, headers, _ = through_tls(port, "GET", "/health")
                break
            time.sleep(0.1)
        assert status == 200 and "max-age" in headers["Strict-Transport-Security"]
        # What the client says about its address does not count: it is the same one each time.
        statuses = [through_tls(port, "POST", "/api/join", json.dumps({"study": study}), **{"X-Forwarded-For": f"198.51.100.{i}"})
                    for i in range(5)]
        assert [status for status, _, _ in statuses] == [200] * 5 and "; Secure" in statuses[0][1]["Set-Cookie"]
        try:
            refused = through_tls(port, "POST", "/api/upload", b"x" * ((32 << 20) + 1))[0]
        except OSError:  # closed in the middle of it
            refused = 413
        assert refused == 413
        send_smuggled(port)
        log = (folder / "requests.log").read_text()
        assert {json.loads(line)["client"] for line in log.splitlines()} == {"127.0.0.1"} and "/api/datasets" not in log, log
        assert through_tls(port, "GET", "/api/datasets")[0] == 200 and "/api/datasets" in (folder / "requests.log").read_text()
        connection = http.client.HTTPConnection("127.0.0.1", plain, timeout=300)
        connection.request("GET", "/s/x?label=a&link=a-secret-link", headers={"Host": "evil.example"})
        location = connection.getresponse().getheader("Location") or ""
        connection.close()
        assert proxy == "caddy" or location == "https://study.example.org/s/x?label=a&link=a-secret-link"
        server.kill()
        with contextlib.suppress(OSError):  # an error of the proxy, which must not quote the link either
            assert through_tls(port, "GET", "/s/x?label=a&link=a-secret-link")[0] == 502
    finally:
        process.terminate()
        process.wait(600)
        if server.process.poll() is None:
            server.stop()
    assert not any(b"a-secret-link" in p.read_bytes() for p in [*folder.glob("*.log"), *folder.glob("logs/*"), folder / "proxy.out"])


def calls_of_sets():
    """The system calls of each of systemd's sets, without those of the sets that it includes."""
    done = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager"], check=True, capture_output=True, text=True)
    sets, name = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("@"):
            name = line.strip()
            sets[name] = []
        elif line.startswith("#"):
            name = None
        elif name and line.strip() and not line.strip().startswith("#"):
            sets[name].append(line.strip())
    return sets


@pytest.mark.plain("leak checks trace the program")
def test_calls_that_the_unit_allows(melicit):
    """The server starts and answers with the system calls that the unit's filter allows and no others."""
    if shutil.which("systemd-analyze") is None or not ctypes.util.find_library("seccomp"):
        pytest.skip("systemd-analyze or libseccomp is not here")
    library, sets = ctypes.CDLL(ctypes.util.find_library("seccomp")), calls_of_sets()
    library.seccomp_init.restype = ctypes.c_void_p

    def members(word):
        return set().union(*map(members, sets[word])) if word.startswith("@") else {word}

    unit = (SOURCE / "deploy" / "melicit.service").read_text()
    allowed = members("@default")
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit, re.M):
        named = set().union(*map(members, line.removeprefix("~").split()))
        allowed = allowed - named if line.startswith("~") else allowed | named
    numbers = [library.seccomp_syscall_resolve_name(name.encode()) for name in sorted(allowed)]
    otherwise = 0x00050000 | errno.EPERM if "\nSystemCallErrorNumber=EPERM\n" in unit else 0x80000000

    def confine():
        rules = ctypes.c_void_p(library.seccomp_init(otherwise))
        for number in numbers:
            if number >= 0:
                library.seccomp_rule_add(rules, 0x7FFF0000, number, 0)
        if library.seccomp_load(rules) != 0:
            os._exit(77)

    server = Limited(melicit.folder, "--key", "server.key", "--log", "requests.log", "--log", "audit=audit.log", limits=confine)
    try:
        client = server.at("203.0.113.1")
        client.walk(client.join(create_study(server)))
        client.cookies, client.csrf = {}, "first"
        assert client.own(space={"data": "breast_cancer_original"})["kind"] == "question"
    finally:
        server.stop()


def test_unit_of_systemd():
    """The sandbox is as tight as systemd-analyze rates "safe", and the command line is one that the program takes."""
    unit = SOURCE / "deploy" / "melicit.service"
    command = re.search(r"ExecStart=(.*?[^\\])\n", unit.read_text(), re.S).group(1).replace("\\\n", " ").split()
    assert command[1] == "serve"
    options = subprocess.run([PROGRAM, "help", "serve", "--all"], capture_output=True, text=True, env=environment()).stdout
    assert all(word in options for word in command if word.startswith("--"))
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here")
    rated = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", str(unit)],
                           capture_output=True, text=True)
    assert rated.returncode == 0, rated.stdout[-300:] + rated.stderr


@pytest.mark.plain("made by the build that is installed")
def test_list_of_parts():
    """The SBOM names every library that the program is linked with and every package of its pages, with a version."""
    told = json.loads((BUILD / "melicit.spdx.json").read_text())
    parts = {p["name"]: p["versionInfo"] for p in told["packages"]}
    dynamic = subprocess.run(["readelf", "-d", str(BUILD / "melicit")], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\[lib(\w+?)\d*\.so", dynamic)
    same = {"z": "zlib", "zip": "libzip", "sodium": "libsodium", "microhttpd": "libmicrohttpd", "pq": "libpq", "gomp": "libgomp"}
    for name in set(needed) - {"c", "m"}:
        assert re.match(r"\d+\.\d+", parts[same.get(name, name)]), name
    locked = json.loads((SOURCE / "web" / "package-lock.json").read_text())["packages"]
    packages = {path.removeprefix("node_modules/"): x["version"] for path, x in locked.items() if path and not x.get("dev")}
    assert {"preact", "uplot"} <= set(packages) and packages.items() <= parts.items()
    assert len(told["relationships"]) == len(parts)


# fairness -----------------------------------------------------------------------------------------

def large_study(classes=10, questions=3):
    """A study of which each answer takes long to compute."""
    return {**small_study(), "space": {"ball": str(classes), "radius": 0.01}, "words": {}, "elicitation": {"family": "linear", "max_questions": questions},
            "phases": [{"kind": "elicitation"}, {"kind": "done", "title": "Thanks"}]}


@contextlib.contextmanager
def people_at(server, study, n):
    """So many participants, each at an address of their own, who answer questions as fast as they can and come again when told to. The
    list of statuses that they got."""
    over, statuses = threading.Event(), []

    def take_part(number):
        client, page = server.at(f"198.51.100.{number}"), None
        while not over.is_set():
            if page is None or page["kind"] == "done":
                client.cookies, client.csrf = {}, "first"
                status, told = client.post("/api/join", {"study": study})
            else:
                status, told = client.send(page, {"answer": "AB"[page["seq"] * (number + 3) % 2]})
            page = told["page"] if status == 200 else page
            statuses.append(status)

    threads = [threading.Thread(target=take_part, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        over.set()
        for thread in threads:
            thread.join()


@SANITIZERS_SLOW
def test_a_large_study_leaves_room_for_small_ones(server):
    """32 participants of a study of ten classes answer at once; the first of studies of two classes, whose data are to be read, are
    served all the same."""
    study = {**small_study(), "space": {"data": "breast_cancer_original"}}
    small = [create_study(server, {**study, "elicitation": {**study["elicitation"], "seed": i}}) for i in range(8)]
    large = create_study(server, large_study())
    server.stop()
    server.start()
    with people_at(server, large, 32) as statuses:
        time.sleep(1)
        for i, study in enumerate(small):
            begun = time.monotonic()
            client = server.at(f"203.0.113.{i}")
            client.answer(client.join(study))
            print(f"small: {time.monotonic() - begun:.3f} s")
    print(f"large: {statuses.count(200)} answers of {len(statuses)}")
    assert 200 in statuses and set(statuses) <= {200, 503}, statuses


@SANITIZERS_SLOW
def test_one_address_has_a_share_of_the_connections(melicit):
    """Somebody who opens as many connections as the server takes gets a quarter of them; others are served."""
    few = Server(melicit.folder, "--limits", "connections=64")
    with contextlib.ExitStack() as stack:
        before = few.files()
        for _ in range(80):
            s = stack.enter_context(socket.create_connection(("127.0.0.1", few.port)))
            with contextlib.suppress(OSError):
                s.sendall(b"GET /health HTTP/1.1\r\nHost: ")
        time.sleep(0.5)
        assert few.files() - before <= 24, "of 64 connections one address holds a quarter"
    few.stop()
    server = Server(melicit.folder)
    with contextlib.ExitStack() as stack:
        for _ in range(1100):
            s = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            with contextlib.suppress(OSError):
                s.sendall(b"GET /health HTTP/1.1\r\nHost: ")
        time.sleep(0.5)
        assert server.files() < 512, "one address holds half of all connections"
        other = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5 * SLOW, source_address=("127.0.0.2", 0))
        other.request("GET", "/health")
        assert other.getresponse().status == 200
        other.close()
    server.stop()


SPELLINGS = [["198.51.100.7", "198.51.100.7:4711", "[::ffff:198.51.100.7]:80", "203.0.113.1, 198.51.100.7:1"],
             ["2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:443", "2001:db8::7%eth0", "[2001:db8::7%25eth0]:443", "2001:DB8:0:0::0:9"]]


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_addresses_that_a_proxy_spells_in_many_ways(melicit, spellings):
    """With a port, brackets or a zone it is still the same client, who may join as often as one."""
    server = Limited(melicit.folder, "--limits", f"joins={len(spellings)}")
    study = create_study(server)

    def check(turn):
        assert [server.at(spelling.replace("7", str(7 + turn))).post("/api/join", {"study": study})[0] for spelling in spellings] == [200] * len(spellings)
        assert server.at(spellings[0].replace("7", str(7 + turn))).post("/api/join", {"study": study})[0] == 429

    within_a_minute(check)
    server.stop()


# housekeeping -------------------------------------------------------------------------------------

DAY = 86_400_000


def now_ms():
    return int(time.time() * 1000)


def rows_of(melicit, query, *values):
    with contextlib.closing(sqlite3.connect(melicit.folder / "t.db", timeout=300)) as db:
        return db.execute(query, values).fetchall()


def fill(melicit, study, people, answers=0, size=1000, seen=None):
    """Participants with answers of so many bytes, written next to the server's own; what they say is never replayed."""
    with sqlite3.connect(melicit.folder / "t.db", timeout=300) as db:
        first = db.execute("SELECT count(*) FROM participant").fetchone()[0]
        ids = [f"p{first + i:08d}" for i in range(people)]
        now = now_ms()
        db.executemany("INSERT INTO participant (id, study, about, state, created, seen, seed) VALUES (?, ?, '{}', 'left', ?, ?, '1')",
                       ((i, study, now + n, seen or now) for n, i in enumerate(ids)))
        db.executemany("INSERT INTO event (participant, seq, key, body, time) VALUES (?, ?, ?, ?, ?)",
                       ((i, n, f"k{n}", '{"x": "' + "y" * size + '"}', now) for i in ids for n in range(1, answers + 1)))
    db.close()
    return ids


@SANITIZERS_SLOW
def test_expiry_takes_no_memory(server, melicit):
    """Uploads whose time is over, also one that an older version stored whole."""
    study = create_study(server)
    server.stop()
    with sqlite3.connect(melicit.folder / "t.db") as db:
        for i in range(3):
            db.execute("INSERT INTO thing (name, bytes, expires, more) VALUES (?, x'', 1000, ?)", (f"upload:s-new{i}", 31 << 20))
            db.executemany("INSERT INTO piece VALUES (?, ?, ?)", ((f"upload:s-new{i}", n, b"x" * (1 << 20)) for n in range(31)))
        for i in range(1):
            db.execute("INSERT INTO thing (name, bytes, expires) VALUES (?, ?, 1000)", (f"upload:s-old{i}", b"x" * (31 << 20)))
        for i in range(500):
            db.execute("INSERT INTO thing (name, bytes, expires) VALUES (?, x'31', 1000)", (f"login:{i}",))
    db.close()
    server.start()
    before = server.memory()
    with Honest(server, study):
        assert eventually(lambda: rows_of(melicit, "SELECT (SELECT count(*) FROM thing WHERE expires = 1000) + (SELECT count(*) FROM piece)") == [(0,)])
    assert server.peak() < before + (64 << 20)


@SANITIZERS_SLOW
def test_deleting_a_study_keeps_nobody_waiting(server, melicit):
    """A study of 1,000 people with 60 answers each is out of sight at once and gone soon; kill -9 in between loses nothing."""
    keeps, goes = create_study(server), create_study(server)
    fill(melicit, goes, 1000, 60)
    researcher = server.researcher()
    with Honest(server, keeps):
        assert researcher.json("DELETE", f"/api/admin/studies/{goes}", {})[0] == 200
        assert researcher.json("GET", f"/api/admin/studies/{goes}")[0] == 404
        assert eventually(lambda: rows_of(melicit, "SELECT count(*) FROM participant WHERE study = ?", goes)[0][0] < 950)
    stayed = rows_of(melicit, "SELECT count(*) FROM event e JOIN participant p ON p.id = participant WHERE study = ?", keeps)
    for _ in range(50 if SOAK else 3):
        server.kill()
        server.start()
        time.sleep(0.1)
    assert eventually(lambda: rows_of(melicit, "SELECT id FROM study WHERE id = ?", goes) == [])
    assert rows_of(melicit, "SELECT count(*) FROM event e JOIN participant p ON p.id = participant WHERE study = ?", goes) == [(0,)]
    assert rows_of(melicit, "SELECT count(*) FROM event e JOIN participant p ON p.id = participant WHERE study = ?", keeps) == stayed


@SANITIZERS_SLOW
def test_clean_up_does_not_read_every_session(server, melicit):
    """10,000 sessions of people's own with long answers, 100 of them to be forgotten."""
    study = create_study(server)
    server.stop()
    fill(melicit, "alone", 10_000, 2, 2000)
    old = fill(melicit, "alone", 100, 2, seen=now_ms() - 91 * DAY)
    server.start()
    with Honest(server, study):
        assert eventually(lambda: rows_of(melicit, "SELECT count(*) FROM participant WHERE id BETWEEN ? AND ?", min(old), max(old)) == [(0,)])
    assert rows_of(melicit, "SELECT count(*) FROM event") >= [(20_000,)]


def test_a_clock_that_is_ahead_erases_nobody(server, melicit):
    """To a server whose clock is a year ahead everybody was last seen a year ago: it waits for a day before it believes that."""
    study = create_study(server, small_study(retention_days=30))
    server.stop()
    fill(melicit, study, 5, 2, seen=now_ms() - 365 * DAY)
    fill(melicit, "alone", 5, 2, seen=now_ms() - 366 * DAY)
    with contextlib.closing(sqlite3.connect(melicit.folder / "t.db")) as db, db:
        db.execute("DELETE FROM thing WHERE name = 'tidied'")  # a store of an older version has no such time
    server.start()
    server.at("203.0.113.1").join(study)  # an answer at the wrong time changes nothing
    time.sleep(2)
    assert rows_of(melicit, "SELECT count(*) FROM participant") == [(11,)]


def test_the_page_of_a_study_is_paged(server, melicit):
    """Every participant is on one page, in the order in which they joined; the counts are of all."""
    study, researcher = create_study(server), server.researcher()
    ids = fill(melicit, study, 1203)
    found, query = [], ""
    while query is not None:
        status, page = researcher.json("GET", f"/api/admin/studies/{study}{query}")
        assert status == 200 and page["participants"]["left"] == 1203 and len(page["live"]) <= 500
        found += [person["id"] for person in page["live"]]
        query = page["next"] and f"?after={page['next']}"
    assert found == ids
    assert researcher.json("GET", f"/api/admin/studies/{study}?after=nonsense")[0] == 400


@SANITIZERS_SLOW
def test_answers_take_little_more_than_their_bytes(server, melicit):
    """Answers of 1 to 3 kB, which took a page of 4 kB and more each."""
    study = create_study(server)
    before = (melicit.folder / "t.db").stat().st_size
    for size in (1100, 1500, 2100, 2600):
        fill(melicit, study, 50, 20, size)
    server.stop()  # the log is copied into the file
    server.start()
    per_answer = ((melicit.folder / "t.db").stat().st_size - before) / 4000
    assert per_answer < 1.6 * 1825, per_answer


def largest_transaction(melicit):
    """Bytes of the pages that the largest transaction in the store's log has written."""
    try:
        log = (melicit.folder / "t.db-wal").read_bytes()
    except FileNotFoundError:
        return 0
    if len(log) < 32:
        return 0
    size, salt, largest, pages = int.from_bytes(log[8:12], "big"), log[16:24], 0, 0
    for at in range(32, len(log) - size - 23, size + 24):
        if log[at + 8:at + 16] != salt:
            break
        pages += 1
        if log[at + 4:at + 8] != b"\0\0\0\0":  # the last page of a transaction says how many there are in the file
            largest, pages = max(largest, pages), 0
    return largest * size


@SANITIZERS_SLOW
def test_transactions_are_small(server, melicit):
    """Answers of 60 kB that go with a study, with a person and by themselves, and uploads: none is a transaction above 8 MB."""
    study, goes = create_study(server), create_study(server)
    fill(melicit, goes, 30, 30, 60_000)
    one, = fill(melicit, study, 1, 300, 60_000)
    rows_of(melicit, "PRAGMA wal_checkpoint(TRUNCATE)")
    researcher, sizes, over = server.researcher(), [], threading.Event()

    def watch():
        while not over.is_set():
            sizes.append(largest_transaction(melicit))
            over.wait(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    table = "a,label\n" + "".join(f"{'x' * 90}{i % 7},{'xy'[i % 2]}\n" for i in range(60_000))
    with Honest(server, study), concurrent.futures.ThreadPoolExecutor(4) as pool:
        uploads = [pool.submit(server.at(f"198.51.100.{i}").json, "POST", "/api/upload", table, CSV) for i in range(3)]
        assert researcher.json("DELETE", f"/api/admin/studies/{study}/participants/{one}", {})[0] == 200
        assert researcher.json("DELETE", f"/api/admin/studies/{goes}", {})[0] == 200
        assert eventually(lambda: rows_of(melicit, "SELECT id FROM study WHERE id = ?", goes) == [])
        assert {upload.result()[0] for upload in uploads} <= {200, 503}
    over.set()
    watcher.join()
    assert 1 << 20 < max(sizes) < 8 << 20, max(sizes) >> 10
    assert rows_of(melicit, "SELECT count(*) FROM event WHERE participant = ?", one) == [(0,)]


def expire_much(server, melicit, study):
    with sqlite3.connect(melicit.folder / "t.db", timeout=60) as db:
        for i in range(3):
            db.execute("INSERT INTO thing (name, bytes, expires, more) VALUES (?, x'', 1000, ?)", (f"upload:s-new{i}", 31 << 20))
            db.executemany("INSERT INTO piece VALUES (?, ?, ?)", ((f"upload:s-new{i}", n, b"x" * (1 << 20)) for n in range(31)))
        db.executemany("INSERT INTO thing (name, bytes, expires) VALUES (?, x'31', 1000)", ((f"login:{i}",) for i in range(5000)))
    db.close()
    return "SELECT (SELECT count(*) FROM thing WHERE expires = 1000) + (SELECT count(*) FROM piece)"


def retain_no_longer(server, melicit, study):
    old = fill(melicit, study, 800, 30, seen=now_ms() - 31 * DAY)
    return f"SELECT (SELECT count(*) FROM participant WHERE id BETWEEN '{old[0]}' AND '{old[-1]}') + (SELECT count(*) FROM event WHERE participant BETWEEN '{old[0]}' AND '{old[-1]}')"


def delete_a_study(server, melicit, study):
    goes = create_study(server)
    fill(melicit, goes, 800, 30)
    assert server.researcher().json("DELETE", f"/api/admin/studies/{goes}", {})[0] == 200
    return f"SELECT (SELECT count(*) FROM participant WHERE study = '{goes}') + (SELECT count(*) FROM study WHERE id = '{goes}')"


@SANITIZERS_SLOW
@pytest.mark.parametrize("job", [expire_much, retain_no_longer, delete_a_study])
def test_kills_in_the_middle_of_housekeeping(server, melicit, job):
    """Whatever is removed goes on being removed after kill -9; logs that are left have no gaps, and of others nothing is lost."""
    study = create_study(server, small_study(retention_days=30))
    stays = fill(melicit, study, 20, 30)
    count = job(server, melicit, study)
    before = server.process.pid
    left = [rows_of(melicit, count)[0][0]]
    for i in range(50 if SOAK else 4):
        server.kill()
        server.start()
        time.sleep(0.02 + 0.03 * (i % 4))
        left.append(rows_of(melicit, count)[0][0])
    server.kill()
    assert server.process.pid != before and left == sorted(left, reverse=True)
    assert rows_of(melicit, "SELECT participant FROM event GROUP BY participant HAVING min(seq) <> 1 OR max(seq) <> count(*)") == []
    assert rows_of(melicit, "PRAGMA integrity_check") == [("ok",)]
    server.start()
    assert eventually(lambda: rows_of(melicit, count) == [(0,)])
    assert rows_of(melicit, "SELECT count(*) FROM event WHERE participant BETWEEN ? AND ?", stays[0], stays[-1]) == [(600,)]


@SANITIZERS_SLOW
def test_kills_in_the_middle_of_an_erasure_and_an_export(server, melicit):
    """Somebody who is half erased is erased when asked again; an export that is cut off leaves no file."""
    study = create_study(server)
    one, *others = fill(melicit, study, 12, 100, 20_000)
    rows_of(melicit, "PRAGMA wal_checkpoint(TRUNCATE)")
    for i in range(50 if SOAK else 3):
        researcher = server.researcher()
        work = [("DELETE", f"/api/admin/studies/{study}/participants/{one}"), ("GET", f"/api/admin/studies/{study}/export.csv")][i % 2]

        def ask(work=work, researcher=researcher):
            with contextlib.suppress(OSError, http.client.HTTPException):
                researcher.request(*work, {} if work[0] == "DELETE" else None)

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(0.01 * (i % 5))
        server.kill()
        thread.join()
        server.start()
    assert rows_of(melicit, "PRAGMA integrity_check") == [("ok",)]
    researcher = server.researcher()
    researcher.json("DELETE", f"/api/admin/studies/{study}/participants/{one}", {})
    assert rows_of(melicit, "SELECT count(*) FROM event WHERE participant = ?", one) == [(0,)]
    status, text = researcher.request("GET", f"/api/admin/studies/{study}/export.csv")
    assert status == 200 and text.count(b"\n") == 1 + 100 * len(others)
    assert [name for name in os.listdir(melicit.folder) if "export" in name] == []


@SANITIZERS_SLOW
def test_small_uploads_have_a_number(melicit):
    """Each counts 32 kB at least of the room for uploads, which is counted for every one: few enough of them fit."""
    server = Limited(melicit.folder, "--limits", "upload-room=2")
    statuses = []
    for i in range(64):
        statuses.append(server.at(f"198.51.100.{i}").json("POST", "/api/upload", "a,b\n1,x\n2,y\n", CSV)[0])
    assert statuses[:8] == [200] * 8 and statuses[-1] == 503 and statuses.count(200) <= 32, statuses
    server.stop()
