"""The twelve tests of a study server: what it withstands. Short variants; MELICIT_SOAK=1 runs the long ones."""
import collections
import http.client
import json
import os
import random
import re
import resource
import socket
import sqlite3
import threading
import time
import uuid

import pytest
from conftest import SANITIZED
from routes import ENDING, Scene
from serving import OWN, SLOW, SOAK, Client, Server, create_study, in_threads, reply_to, small_study

http_failure = http.client.HTTPException
HOST = b"Host: localhost\r\n"


@pytest.fixture
def folder(melicit):
    return melicit.folder


@pytest.fixture
def server(melicit):
    running = Server(melicit.folder)
    yield running
    running.stop()


def stored(folder, store="t.db"):
    """Every event: participant, seq, key."""
    with sqlite3.connect(folder / store) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return db.execute("SELECT participant, seq, key FROM event ORDER BY participant, seq").fetchall()


# 1 ------------------------------------------------------------------------------------------------

def test_1_kill(folder):
    """Killed at random times under 16 clients: what was acknowledged is there, once; retries do no harm."""
    rounds, clients = (100, 16) if SOAK else (3, 8) if SANITIZED else (4, 16)
    server = Server(folder)
    study = create_study(server, small_study(questions=40, evaluation=40))
    people = [server.client() for _ in range(clients)]
    pages = [c.join(study) for c in people]
    acknowledged, pending = set(), [None] * clients
    rng = random.Random(1)
    for _ in range(rounds):
        over = threading.Event()

        def answer(i):
            while not over.is_set():
                if pages[i]["kind"] == "done":
                    people[i].cookies.clear()
                    people[i].csrf = "first"
                    try:
                        pages[i] = people[i].join(study)
                    except (OSError, AssertionError, ValueError):
                        return
                pending[i] = pending[i] or (pages[i], reply_to(pages[i]), str(uuid.uuid4()))
                page, value, key = pending[i]
                try:
                    status, told = people[i].send(page, value, key)
                except (OSError, ValueError, http_failure):
                    return  # the server is gone: the same request is sent again after its restart
                if status == 503 and told["error"]["code"] == "busy":  # the study is being read again
                    time.sleep(0.05)
                    continue
                assert status == 200, told
                acknowledged.add(key)
                pages[i], pending[i] = told["page"], None

        threads = [threading.Thread(target=answer, args=(i,)) for i in range(clients)]
        for t in threads:
            t.start()
        enough = len(acknowledged) + 20
        while len(acknowledged) < enough and any(t.is_alive() for t in threads):
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.3))
        server.kill()
        over.set()
        for t in threads:
            t.join()
        server.start()
        for c in people:
            c.port, c.connection = server.port, None
    for i in range(clients):  # what was under way when the last one was killed
        if pending[i]:
            page, value, key = pending[i]
            status, told = people[i].send(page, value, key)
            assert status == 200, told
            acknowledged.add(key)
    server.stop()
    events = stored(folder)
    keys = [key for _, _, key in events]
    assert len(keys) == len(set(keys)) and acknowledged == set(keys) and len(keys) >= 20 * rounds
    for person in {p for p, _, _ in events}:
        assert [s for p, s, _ in events if p == person] == list(range(1, sum(p == person for p, _, _ in events) + 1))


# 2 ------------------------------------------------------------------------------------------------

def test_2_two_tabs(server, folder):
    """Two tabs of one person: one answer per question, the other tab is told what is current."""
    first = server.client()
    page = first.own()
    second = server.client()
    second.cookies, second.csrf = dict(first.cookies), first.csrf
    pages = [page, second.get("/api/page")[1]["page"]]
    accepted = 0
    for turn in range(16):
        tab = turn % 2
        status, told = (first, second)[tab].send(pages[tab], {"answer": "A"})
        assert status in (200, 409)
        accepted += status == 200
        pages[tab] = told["page"]
        if pages[tab]["kind"] != "question":
            break
    old = dict(page)  # the back button: the first page again
    status, told = first.send(old, {"answer": "B"})
    assert status == 409 and told["page"]["seq"] == accepted + 1
    results = collections.Counter()
    current = first.own()
    second.cookies, second.csrf = dict(first.cookies), first.csrf

    def press(i):
        client = server.client()
        client.cookies, client.csrf = dict(first.cookies), first.csrf
        results[client.send(current, {"answer": "AB"[i % 2]})[0]] += 1

    in_threads(8, press)
    assert results == {200: 1, 409: 7}


# 3 ------------------------------------------------------------------------------------------------

def test_3_replay(server, folder):
    """The same request again and again: one row, the same bytes; another answer under its key: 409."""
    client = server.client()
    page = client.own()
    body = json.dumps({"seq": 1, "key": "the-same-key", "value": {"answer": "A"}, "seconds": 2})
    first = client.request("POST", "/api/event", body)
    client.csrf = json.loads(first[1])["page"]["csrf"]
    for _ in range(1000 if SOAK else 100):
        assert client.request("POST", "/api/event", body) == first
    status, told = client.post("/api/event", {"seq": 1, "key": "the-same-key", "value": {"answer": "B"}})
    assert status == 409 and told["page"]["seq"] == 2
    status, told = client.post("/api/event", {"seq": 2, "key": "the-same-key", "value": {"answer": "B"}})
    assert status == 409 and told["page"]["seq"] == 2
    client.answer(client.get("/api/page")[1]["page"])
    assert client.request("POST", "/api/event", body) == first  # also after later answers
    assert len(stored(folder)) == 2 and page["seq"] == 1


# 4 ------------------------------------------------------------------------------------------------

def contents(folder):
    """All that is stored."""
    with sqlite3.connect(folder / "t.db") as db:
        return {table: sorted(map(repr, db.execute(f"SELECT * FROM {table}"))) for table in ("study", "participant", "event", "thing")}


def test_4_csrf(server, folder):
    """Requests from other pages are refused on every route that writes and store nothing; cookies are out of their reach; GET never
    writes."""
    scene = Scene(server)
    cookie = scene.client.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    forged = [
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": f"https://127.0.0.1:{server.port}.evil.example"},
        {"X-Melicit-CSRF": None}, {"X-Melicit-CSRF": ""},
        {"Content-Type": "application/x-www-form-urlencoded"}, {"Content-Type": "text/plain"},
        {"Content-Type": "multipart/form-data; boundary=x"}, {"Content-Type": None},
    ]
    # These make a cookie, or need none: any value of the header shows that a script of ours sends it.
    first = {f"/api/{name}" for name in ("join", "start", "check", "upload", "columns", "admin/login")}
    requests = {route: sent for route, sent in scene.requests().items() if route[0] != "GET"}
    before = contents(folder)
    for (method, route), sent in requests.items():
        for who, path, body in sent:
            guessed = who.csrf[:-1] + ("0" if who.csrf[-1] != "0" else "1")
            for headers in forged + ([] if route in first else [{"X-Melicit-CSRF": "first"}, {"X-Melicit-CSRF": guessed}]):
                assert who.request(method, path, body, headers)[0] == 403, (method, path, headers)
            if ("GET", route) not in scene.requests() and "*" not in route:
                assert who.request("GET", path)[0] in (404, 405), path
    assert contents(folder) == before
    assert server.client().get("/api/admin/studies")[0] == 403
    who, path, body = requests["POST", "/api/event"][0]
    assert who.post(path, body, Origin=f"http://127.0.0.1:{server.port}")[0] == 200


def test_4_every_answer_says_how_to_be_treated(server):
    client = server.client()
    for path in ("/", "/api/datasets", "/nothing.txt", "/api/nothing"):
        client.request("GET", path)
        assert "default-src 'none'" in client.headers["Content-Security-Policy"]
        assert client.headers["X-Content-Type-Options"] == "nosniff"
        assert client.headers["Referrer-Policy"] == "no-referrer"


# 5 ------------------------------------------------------------------------------------------------

def test_5_traversal(server, folder):
    """Whatever the path says, only embedded files come out."""
    (folder / "secret.txt").write_text("SECRET-CONTENT")
    client = server.client()
    page = client.request("GET", "/")[1]
    rng = random.Random(5)
    parts = ["..", "%2e%2e", "%2E%2e", ".", "%00", "//", "\\", "%5c", "etc", "passwd", "secret.txt", "assets", "api",
             "admin", "studies", "proc", "self", "environ", "t.db", "%2f", "..;", "%252e%252e", "...", "~", "index.html",
             "%c0%ae%c0%ae", "%uff0e", "?", "#", "*", "'", "\"", "<", "%0d%0aX:y", "a" * 300]
    fixed = ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/../../t.db", "/..%2f..%2fetc/passwd", "//etc/passwd",
             "/.%00./secret.txt", "/\\..\\secret.txt", "/" + "a" * 8000, "/assets/", "/assets", "/secret.txt", "/t.db"]
    cases = 5000 if SOAK else 800
    for i in range(cases):
        path = fixed[i] if i < len(fixed) else "/" + rng.choice(["/", ""]).join(rng.choices(parts, k=rng.randint(1, 6)))
        got = send_path(client, path)
        if got is None:
            continue
        status, data = got
        assert status in (200, 400, 403, 404, 405, 414, 431), (path, status)
        assert b"SECRET-CONTENT" not in data and b"SQLite" not in data and b"root:" not in data, path
        if status == 200:
            assert data == page or path.split("?")[0].split("#")[0] == "/index.html", path
    assert client.request("GET", "/")[0] == 200


def send_path(client, path):
    """As it stands, without the checks of http.client; None when a byte cannot be sent."""
    try:
        line = path.encode("latin1")
    except UnicodeEncodeError:
        return None
    s = getattr(client, "pipe", None)
    if s is None:
        s = client.pipe = socket.create_connection(("127.0.0.1", client.port), timeout=300)
    try:
        s.sendall(b"GET " + line + b" HTTP/1.1\r\n" + HOST + b"\r\n")
        head = b""
        while b"\r\n\r\n" not in head:
            piece = s.recv(65536)
            if not piece:
                raise OSError("closed")
            head += piece
    except OSError:
        s.close()
        client.pipe = None
        return 400, b""
    head, rest = head.split(b"\r\n\r\n", 1)
    length = next(int(h.split(b":")[1]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length"))
    while len(rest) < length:
        rest += s.recv(65536)
    if b"connection: close" in head.lower():
        s.close()
        client.pipe = None
    return int(head.split()[1]), rest


# 6 ------------------------------------------------------------------------------------------------

SMUGGLED = b"GET /api/datasets HTTP/1.1\r\n" + HOST + b"\r\n"
POST = b"POST /api/join HTTP/1.1\r\n"
FRAMING = [
    ("doubled length", POST + HOST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc" + SMUGGLED, {400}),
    ("equal lengths", POST + HOST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc" + SMUGGLED, {400}),
    ("length and chunks", POST + HOST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, {400}),
    ("two hosts", b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n" + SMUGGLED, {400}),
    ("no host", b"GET / HTTP/1.1\r\n\r\n" + SMUGGLED, {400}),
    ("negative length", POST + HOST + b"Content-Length: -3\r\n\r\nabc" + SMUGGLED, {400}),
    ("signed length", POST + HOST + b"Content-Length: +3\r\n\r\nabc" + SMUGGLED, {400}),
    ("length in hex", POST + HOST + b"Content-Length: 0x3\r\n\r\nabc" + SMUGGLED, {400}),
    ("huge length", POST + HOST + b"Content-Length: 99999999999999999999\r\n\r\n" + SMUGGLED, {400, 413}),
    ("blank before colon", POST + HOST + b"Content-Length : 3\r\n\r\nabc" + SMUGGLED, {400}),
    ("one byte too large", POST + HOST + b"Content-Length: 65537\r\n\r\n" + b"x" * 65537 + SMUGGLED, {413}),
    ("endless chunks", POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + (b"1000\r\n" + b"y" * 4096 + b"\r\n") * 60, {400, 411, 413}),
    ("other encoding", POST + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, {400, 411}),
    ("1000 headers", b"GET / HTTP/1.1\r\n" + HOST + b"".join(b"X-%d: y\r\n" % i for i in range(1000)) + b"\r\n", {400, 413, 431}),
    ("150 headers", b"GET / HTTP/1.1\r\n" + HOST + b"".join(b"X-%d: y\r\n" % i for i in range(150)) + b"\r\n" + SMUGGLED, {431}),
    ("10 MB header", b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 10_000_000 + b"\r\n\r\n", {400, 413, 431}),
    ("no HTTP at all", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20 + b"\r\n\r\n", {400, 505}),
]


@pytest.mark.parametrize("what, data, statuses", FRAMING, ids=[row[0] for row in FRAMING])
def test_6_framing(shared, what, data, statuses):
    """Refused at once, the connection closed, and nothing of the rest read as a request of its own."""
    before = shared.memory()
    got, closed = shared.raw(data)  # in time: it waits for less than the server's deadline
    if got or what not in ("10 MB header", "no HTTP at all"):  # the reset may arrive before the answer
        # libmicrohttpd 0.9.75 sends the head of its own refusals twice: there is one status, not one line.
        told = {int(status) for status in re.findall(rb"HTTP/1\.[01] (\d+) ", got)}
        assert len(told) == 1 and told <= statuses, got[:2000]
    assert closed and b"breast_cancer" not in got
    assert shared.client().get("/api/datasets")[0] == 200
    if not SANITIZED:
        assert shared.memory() - before < 1 << 20


def test_6_bodies_in_time(shared):
    """A body that is promised and never comes is cut off; one of exactly the limit is read."""
    got, _ = shared.raw(POST + HOST + b"Content-Type: application/json\r\nX-Melicit-CSRF: first\r\n"
                        b"Content-Length: 65536\r\n\r\n" + b'{"study": "' + b"x" * (65536 - 13) + b'"}', wait=1.0)
    assert int(got.split()[1]) == 400 and b"study" in got


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


# 7 ------------------------------------------------------------------------------------------------

def test_7_slow_clients(folder):
    """Clients that send or read a byte now and then are cut off; honest ones do not notice."""
    drips, deadline = (900, 10) if SOAK else (50, 2)
    server = Server(folder, "--limits", f"deadline={deadline}", "--limits", "per-address=1000")
    starts = [b"GET / HTTP/1.1\r\nX: ",
              POST + HOST + b"Content-Type: application/json\r\nX-Melicit-CSRF: first\r\nContent-Length: 1000\r\n\r\n",
              b""]
    slow = []
    for i in range(drips):
        s = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        s.sendall(starts[i % 3])
        slow.append(s)
    begun = time.monotonic()
    cut = {}
    honest, latest = [], deadline + 5
    client = server.client()
    while len(cut) < drips and time.monotonic() - begun < latest + 60:
        for i, s in enumerate(slow):
            if i in cut:
                continue
            try:
                if i % 3 != 2:
                    s.send(b"y")
                s.settimeout(0.0005)
                if s.recv(100) == b"":
                    cut[i] = time.monotonic() - begun
            except (BlockingIOError, socket.timeout):
                pass
            except OSError:
                cut[i] = time.monotonic() - begun
        t = time.monotonic()
        assert client.get("/api/datasets")[0] == 200
        honest.append(time.monotonic() - t)
        time.sleep(0.05)
    for s in slow:
        s.close()
    assert len(cut) == drips  # within the loop's patience
    honest.sort()
    if SOAK:
        assert max(cut.values()) <= latest * (2 if SANITIZED else 1), max(cut.values())
        assert honest[int(0.99 * len(honest))] < 0.25
    server.stop()


# 8 ------------------------------------------------------------------------------------------------

def mangled(rng, value, depth=0):
    """The value with something in it replaced by something else."""
    odd = [None, True, -1, 1e308, 2**53 + 1, "", "x" * 5000, "\u0000", "\ud83d\ude00", [], {}, [[[[]]]], "A", {"a": {}}]
    if depth > 3 or rng.random() < 0.3:
        return rng.choice(odd)
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        changed = dict(value)
        if rng.random() < 0.2:
            del changed[key]
        else:
            changed[key] = mangled(rng, value[key], depth + 1)
        return changed
    return rng.choice(odd)


def test_8_fuzz(shared):
    """Bodies of every route, cookies and paths that nobody would send: refused, and the server lives."""
    rng = random.Random(8)
    scene = Scene(shared)
    for i in range(3000 if SOAK else 200):
        requests = [(route, *request) for route, sent in scene.requests().items() for request in sent if isinstance(request[2], dict)]
        (method, route), who, path, body = rng.choice(requests)
        text = json.dumps(mangled(rng, body))
        if rng.random() < 0.3:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(["", "\x00", "{", "\"", "\u00e9", "1e999", ","]) + text[at + 1:]
        csrf = who.csrf
        status, data = who.request(method, path, text.encode("utf8", "surrogatepass"))
        who.csrf = csrf
        assert status in (200, 400, 403, 404, 409, 413, 429), (path, text[:200], status, data[:200])
        told = json.loads(data)
        if status >= 400:
            assert told["error"]["message"] and told["error"]["code"], (path, text)
        elif (method, route) in ENDING:
            scene = Scene(shared)
        elif "page" in told:
            who.csrf = told["page"]["csrf"]
    for _ in range(200):
        got, _ = shared.raw(b"GET /api/page HTTP/1.1\r\n" + HOST + b"Connection: close\r\nCookie: " +
                            bytes(rng.choices(range(32, 256), k=rng.randint(0, 300))) + b"\r\n\r\n", wait=5)
        assert got == b"" or int(got.split()[1]) in (400, 403, 429)
    assert shared.client().get("/api/datasets")[0] == 200


# 9 ------------------------------------------------------------------------------------------------

def test_9_disk_full(folder):
    """A disk that takes no more: 503, reading goes on, nothing is acknowledged that is not stored; it recovers."""
    server = Server(folder)
    clients = [server.client() for _ in range(4)]
    pages = [c.own(options={"max_questions": 60, "tolerance": 1e-4}) for c in clients]
    keys = []
    for round_ in range(3):
        for i, c in enumerate(clients):
            key = str(uuid.uuid4())
            status, told = c.send(pages[i], {"answer": "A"}, key)
            assert status == 200
            keys.append(key)
            pages[i] = told["page"]
        # From here on no file may become larger than it is.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        refused = 0
        for i, c in enumerate(clients):
            for _ in range(3):
                key = str(uuid.uuid4())
                status, told = c.send(pages[i], {"answer": "B"}, key)
                if status == 200:
                    keys.append(key)
                    pages[i] = told["page"]
                else:
                    assert status == 503 and told["error"]["code"] == "storage" and "Retry-After" in c.headers
                    refused += 1
            assert c.get("/api/page")[1]["page"]["seq"] == pages[i]["seq"]
        assert refused > 0 and server.client().post("/api/start", OWN)[0] == 503
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for i, c in enumerate(clients):
        assert c.send(pages[i], {"answer": "A"}, f"the-last-key-{i}")[0] == 200
        keys.append(f"the-last-key-{i}")
    server.stop()
    assert {key for _, _, key in stored(folder)} == set(keys)


# 10 -----------------------------------------------------------------------------------------------

def test_10_writers_export_and_command_line(server, melicit):
    """Many writers, exports and the command line on one file: nobody is told that it is locked."""
    seconds, writers = (300, 32) if SOAK else (2, 8) if SANITIZED else (2, 32)
    study = create_study(server, small_study(questions=15, evaluation=20))
    end = time.monotonic() + seconds
    times, acknowledged, exports = [], collections.Counter(), []

    def write(_):
        client = server.client()
        page = client.join(study)
        while time.monotonic() < end:
            begun = time.monotonic()
            status, told = client.send(page, reply_to(page))
            times.append(time.monotonic() - begun)
            assert status == 200, told
            acknowledged[client.cookies["melicit"]] += 1
            page = told["page"]
            if page["kind"] == "done":
                client.cookies.clear()
                client.csrf = "first"
                page = client.join(study)

    def read(_):
        researcher = server.researcher()
        while time.monotonic() < end or len(exports) < 2:
            status, data = researcher.request("GET", f"/api/admin/studies/{study}/export.jsonl")
            assert status == 200
            counts = collections.Counter()
            for line in data.splitlines():
                event = json.loads(line)
                counts[event["participant"]] += 1
                assert event["seq"] == counts[event["participant"]]
            exports.append(sum(counts.values()))
            melicit("study", "list", "--store", "t.db", "--json").done()
            time.sleep(0.2)

    in_threads(writers + 1, lambda i: write(i) if i else read(i))
    assert exports == sorted(exports) and len(exports) >= 2
    total = sum(acknowledged.values())
    assert total == len(stored(melicit.folder))
    times.sort()
    print(f"{total / seconds:.0f} answers/s, p99 {1000 * times[int(0.99 * len(times))]:.0f} ms")


# 11 -----------------------------------------------------------------------------------------------

def test_11_tokens(server, folder):
    """Long, all different, kept as hashes only; guessing is slowed down, and never holds up those who know."""
    cookies = []
    for _ in range(60):
        client = server.client()
        client.own()
        cookies.append(client.cookies["melicit"])
    assert len(set(cookies)) == 60 and all(len(c) == 43 for c in cookies)
    everything = b"".join((folder / name).read_bytes() for name in os.listdir(folder) if name.startswith("t.db"))
    for secret in cookies + [server.token]:
        assert secret.encode() not in everything
    bits = "".join(f"{b:08b}" for c in cookies for b in decoded(c))
    ones = bits.count("1")
    assert abs(ones - len(bits) / 2) < 5 * (len(bits) / 4) ** 0.5
    guesses = collections.Counter()
    guesser, begun = server.client(), time.monotonic()
    for _ in range(100_000 if SOAK else 200):
        guesses[guesser.post("/api/admin/login", {"token": str(uuid.uuid4())})[0]] += 1
    minutes = int(time.monotonic() // 60 - begun // 60) + 1  # of the clock by which the server counts
    assert set(guesses) == {403, 429} and guesses[403] <= 20 * minutes
    assert server.client().post("/api/admin/login", {"token": server.token})[0] == 200
    for wrong in ("", "x", cookies[0][:-1], cookies[0] + "x", "%00", cookies[0].swapcase()):
        client = server.client()
        client.cookies["melicit"] = wrong
        assert client.get("/api/page")[0] in (403, 429)
    researcher = server.researcher()
    assert researcher.get("/api/admin/studies")[0] == 200
    assert researcher.post("/api/admin/logout", {})[0] == 200
    researcher.cookies["melicit_admin"] = researcher.cookies.get("melicit_admin") or "x"
    assert researcher.get("/api/admin/studies")[0] in (403, 429)


def decoded(token):
    import base64
    return base64.urlsafe_b64decode(token + "=")


def test_11_secure_cookies_behind_tls(melicit):
    server = Server(melicit.folder, "--public-url", "https://study.example.org/")
    client = server.client()
    assert client.post("/api/start", OWN, Origin="https://study.example.org")[0] == 200
    assert "; Secure" in client.headers["Set-Cookie"]
    assert client.post("/api/start", OWN, Origin=f"http://127.0.0.1:{server.port}")[0] == 403
    researcher = server.researcher()
    told = researcher.post("/api/admin/studies", small_study())[1]
    assert told["links"]["anonymous"] == f"https://study.example.org/s/{told['id']}"
    server.stop()


# 12 -----------------------------------------------------------------------------------------------

def test_12_limits(folder):
    """With 256 files and more connections than that: refused or waiting, never down; nothing leaks."""
    server = Server(folder, "--limits", "deadline=2", limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    client = server.client()
    page = client.own(options={"max_questions": 200, "tolerance": 1e-6})
    for _ in range(3):
        page = client.answer(page)
    files = server.files()
    for _ in range(3):
        crowd = []
        for _ in range(400):
            try:
                crowd.append(socket.create_connection(("127.0.0.1", server.port), timeout=2))
            except OSError:
                break
        assert len(crowd) > 200
        time.sleep(0.2)
        for s in crowd:
            s.close()
        deadline = time.monotonic() + 300 * SLOW
        while time.monotonic() < deadline:
            try:
                status, told = client.send(page, reply_to(page), f"the-key-{page['seq']}")
                assert status == 200
                page = told["page"]
                break
            except (OSError, http_failure):
                client.connection = None
                time.sleep(0.2)
        else:
            pytest.fail("the server does not serve any more")
    until = time.monotonic() + 300 * SLOW
    while server.files() > files + 3 and time.monotonic() < until:
        time.sleep(0.05)
    assert server.files() <= files + 3
    memory = server.memory()
    rounds = 20_000 if SOAK else 200
    fresh = server.client()
    for i in range(rounds):
        status, told = fresh.post("/api/event", {"seq": 1, "key": "12345678", "value": {}})
        assert status == 403
        assert client.get("/api/page")[0] == 200
    if not SANITIZED:
        assert server.memory() - memory < 4 << 20
    assert server.files() <= files + 4
    server.stop()


def test_12_little_memory(folder):
    """With little address space, large requests are refused and small ones answered."""
    if SANITIZED:
        pytest.skip("sanitizers reserve more address space than any limit")
    server = Server(folder)
    client = server.client()
    page = client.own()
    with open(f"/proc/{server.process.pid}/statm") as file:
        now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (now + (8 << 20), resource.RLIM_INFINITY))
    table = "a,b,label\n" + "1,2,x\n3,4,y\n" * 2_000_000
    try:
        status, _ = server.client().request("POST", "/api/upload", table, {"Content-Type": "text/csv"})
        assert status in (413, 503)
    except OSError:
        pass  # cut off while sending
    assert client.get("/api/page")[0] == 200
    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert client.answer(page)["seq"] == 2
    server.stop()
