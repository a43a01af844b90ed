"""melicit serve at its limits: a disk that is full, bodies, uploads, logs, bursts, too little memory, links and proxies."""
import collections
import contextlib
import http.client
import json
import os
import resource
import socket
import sqlite3
import subprocess
import time
import urllib.parse
import uuid
import warnings

import pytest
from conftest import SANITIZED
from serving import OWN, SLOW, Client, Server, create_study, in_threads, ready_study, reply_to, small_study, survey_of, within_a_minute

CSV = {"Content-Type": "text/csv"}


@pytest.fixture
def ends():
    """What a test has started and a failure left behind is ended after it, the last first."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def serve(melicit, ends):
    """Starts servers that end with the test, those that fail to start, too."""
    class Kept(Server):
        process = None

        def end(self):
            if self.process is not None:
                self.kill()

        def start(self):
            ends.callback(self.end)
            super().start()

    return lambda *options, **more: Kept(melicit.folder, *options, **more)


@pytest.fixture
def server(serve):
    running = serve()
    yield running
    running.stop()


def links_for(server, study, *labels):
    """What the personal links carry, by label."""
    status, told = server.researcher().post(f"/api/admin/studies/{study}/links", {"labels": labels})
    assert status == 200, told
    return {x["label"]: urllib.parse.parse_qs(urllib.parse.urlparse(x["url"]).query)["link"][0] for x in told["links"]}


# a full disk --------------------------------------------------------------------------------------

class SmallDisk:
    """A file system of a few megabytes that only the server and this test see; None of it where that is not allowed."""

    def __init__(self, folder, megabytes=6):
        self.folder = folder
        folder.mkdir()
        own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
        self.holder = subprocess.Popen(
            [*own, "sh", "-c", f"mount -t tmpfs -o size={megabytes}m tmpfs '{folder}' && echo ready && exec sleep 3600"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.mounted = self.holder.stdout.readline() == "ready\n"
        self.before = ["nsenter", f"--target={self.holder.pid}", "--mount", "--root"]
        if os.geteuid() != 0:
            self.before += ["--user", "--preserve-credentials"]
        self.filler = f"/proc/{self.holder.pid}/root{folder}/filler"

    def fill(self):
        with open(self.filler, "wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while file.write(b"x" * size) == size:
                        pass
                except OSError:
                    continue

    def free(self):
        os.unlink(self.filler)

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


class SizeLimit:
    """Where nothing can be mounted: no file may grow."""

    def __init__(self, server):
        self.server = server

    def fill(self):
        resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))

    def free(self):
        resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def refused_for_storage(client, status, told):
    return status == 503 and told["error"]["code"] == "storage" and told["error"]["message"] and "Retry-After" in client.headers


def test_disk_full(melicit, serve, ends):
    """A real file system without room: 503 for answers, joins and new studies, pages can be read; then all goes on."""
    disk = SmallDisk(melicit.folder / "disk")
    ends.callback(disk.close)
    if disk.mounted:
        server = serve("--limits", "keep-free=0", store=str(melicit.folder / "disk" / "t.db"), before=disk.before)
        room = disk
    else:
        warnings.warn("no file system can be mounted here: files that may not grow stand in for a full one")
        server = serve()
        room = SizeLimit(server)
    study = create_study(server, small_study(questions=30, evaluation=30))
    people = [server.client() for _ in range(3)]
    pages = [c.join(study) for c in people]
    acknowledged = []

    def answer(i):
        key = str(uuid.uuid4())
        status, told = people[i].send(pages[i], reply_to(pages[i]), key)
        if status == 200:
            acknowledged.append(key)
            pages[i] = told["page"]
        return status, told

    for _ in range(3):
        for i in range(3):
            assert answer(i)[0] == 200
        room.fill()
        for i, client in enumerate(people):
            # What is left in the last pages of the store may take an answer or two.
            for _ in range(40):
                status, told = answer(i)
                if status != 200:
                    break
            assert refused_for_storage(client, status, told), told
            assert client.get("/api/page")[1]["page"]["seq"] == pages[i]["seq"]
        stranger = server.client()
        for _ in range(40):
            status, told = stranger.post("/api/join", {"study": study})
            if status != 200:
                break
            stranger = server.client()
        assert refused_for_storage(stranger, status, told), told
        assert server.client().post("/api/start", OWN)[0] == 503
        room.free()
        stranger.answer(stranger.join(study))
    for i in range(3):
        assert answer(i)[0] == 200
    server.stop()
    server.start()  # what is there is there after a restart, too
    copy = server.researcher().request("GET", f"/api/admin/studies/{study}/export.sqlite")[1]
    with sqlite3.connect(melicit.write("copy.db", copy)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        keys = [key for key, in db.execute("SELECT key FROM event")]
    assert len(keys) == len(set(keys)) == len(acknowledged) + 3 and set(acknowledged) <= set(keys)
    server.stop()


# sizes --------------------------------------------------------------------------------------------

def test_bodies_that_are_too_large(server):
    """413 by the limit of each path, before the body is read; the person goes on in a new connection."""
    client = server.client()
    page = client.own()
    head = "POST %s HTTP/1.1\r\nHost: localhost\r\nX-Melicit-CSRF: first\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n"
    for path, size, status in [("/api/event", 65537, 413), ("/api/admin/studies", 65537, 413), ("/api/uploads", 65537, 413),
                               ("/api/upload", (32 << 20) + 1, 413), ("/api/upload", 1 << 40, 413)]:
        got, closed = server.raw((head % (path, size)).encode(), wait=5)
        assert closed and int(got.split()[1]) == status and b"too-large" in got, (path, size, got[:300])
    table = "a,label\n" + "1,x\n2,y\n" * 20_000  # more than others may send
    assert client.json("POST", "/api/upload", table, CSV)[0] == 200
    long = {"seq": page["seq"], "key": "a-long-answer", "value": {"answer": "A", "note": "x" * 65536}}
    status, told = client.json("POST", "/api/event", long)
    assert status == 413 and told["error"]["code"] == "too-large"
    assert client.answer(page)["seq"] == 2


def test_room_for_uploads(melicit, serve):
    """All uploads together have a limit, of which the smallest takes 32 kB: further ones are told so, others are not held up, and room is
    used again."""
    server = serve("--limits", "upload-room=0.13")
    client = server.researcher()
    table = "a,label\n" + "1,x\n2,y\n" * 6000  # 48 kB
    kept = []
    for _ in range(2):
        status, told = client.json("POST", "/api/upload", table, CSV)
        assert status == 200, told
        kept.append(told["upload"])
    status, told = client.json("POST", "/api/upload", table, CSV)
    assert status == 503 and "as many tables as it may" in told["error"]["message"] and "Retry-After" in client.headers
    assert client.json("POST", "/api/upload", "a,label\n1,x\n2,y\n", CSV)[0] == 200
    assert server.client().own()["kind"] == "question"
    page = client.own(space={"data": f"upload:{kept[0]}", "label": "label"})
    assert page["kind"] == "question"
    with sqlite3.connect(melicit.folder / "t.db") as db:  # as the hourly clean-up does a day later
        assert db.execute("DELETE FROM thing WHERE name = ?", (f"upload:{kept[1]}",)).rowcount == 1
    assert client.json("POST", "/api/upload", table, CSV)[0] == 200
    server.stop()


def test_a_log_has_an_end(melicit, serve):
    """5,000 events of one person are replayed; the next one is refused, and the person can still read."""
    server = serve()
    client = server.client()
    client.timeout = 300 * SLOW
    page = client.answer(client.own(options={"max_questions": 12, "strategy": "search"}))
    page = client.post("/api/undo", {"seq": 2, "key": "undo-key-1"})[1]["page"]
    server.stop()
    with sqlite3.connect(melicit.folder / "t.db") as db:  # answered and taken back, again and again
        columns = [row[1] for row in db.execute("PRAGMA table_info(event)")]
        events = [dict(zip(columns, row)) for row in db.execute("SELECT * FROM event ORDER BY seq")]
        marks = ", ".join("?" * len(columns))
        db.executemany(f"INSERT INTO event VALUES ({marks})",
                       [[{**events[(seq - 1) % 2], "seq": seq, "key": f"again-{seq}"}[c] for c in columns]
                        for seq in range(3, 5000)])
    server.start()
    client.port, client.connection = server.port, None
    status, told = client.get("/api/page")
    assert status == 200 and told["page"]["seq"] == 5000 and told["page"]["question"]["number"] == 2
    status, told = client.post("/api/undo", {"seq": 5000, "key": "undo-key-2"})
    assert status == 200 and told["saved"] == 5000
    status, told = client.send(told["page"], {"answer": "A"})
    assert status == 400 and told["error"]["code"] == "too-many"
    assert client.get("/api/page")[1]["page"]["question"] == page["question"]
    server.stop()


# many at once -------------------------------------------------------------------------------------

def test_a_burst_of_joins(serve):
    """200 come while the study's data are read for the first time: they wait aside, nobody is told to come again."""
    server = serve()
    study = create_study(server, ready_study("cancer"))
    server.stop()
    server.start()  # nothing is in memory
    crowd = 40 if SANITIZED else 200

    def come(statuses):
        client = server.client()
        client.timeout = 300 * SLOW
        statuses.append(client.post("/api/join", {"study": study})[0])

    for _ in range(2):  # when what the study is about is there, too
        statuses = []
        in_threads(crowd, lambda _: come(statuses))
        assert collections.Counter(statuses) == {200: crowd}
    told = server.researcher().get(f"/api/admin/studies/{study}")[1]
    assert len(told["live"]) == 2 * crowd
    server.stop()


def test_the_monitor_of_many(server):
    """What was found out about people is found out once, in pieces; meanwhile others answer."""
    study = create_study(server)
    researcher = server.researcher()
    people = 24
    assert researcher.post(f"/api/admin/studies/{study}/rehearse", {"participants": people, "metric": 7})[0] == 200
    told = survey_of(researcher, study)
    assert len(told["live"]) == people
    assert all(p["answers"] == 12 and "cost_ratio" in p and p["page"] for p in told["live"])
    assert {p["page"] for p in told["live"]} == {"done"}
    assert not any(p["here"] for p in told["pages"])  # which counts people
    assert told["pooled"]["participants"] == people
    again = researcher.get(f"/api/admin/studies/{study}")[1]
    assert again["live"] == told["live"] and again["pooled"] == told["pooled"] and again["complete"]
    client = server.client()
    page = client.answer(client.join(study))
    new = researcher.get(f"/api/admin/studies/{study}")[1]["live"][-1]
    assert new["answers"] == 1 and new["page"] == "form" and new["seconds"] == 1.5
    client.answer(page)
    new = researcher.get(f"/api/admin/studies/{study}")[1]["live"][-1]
    assert new["answers"] == 2 and new["page"] == "guess" and new["seconds"] == 3


def test_somebody_who_cannot_be_replayed(melicit, serve):
    """Of whom nothing can be said, nothing is said, here and on the command line, and nobody waits for it."""
    server = serve()
    study = create_study(server)
    people = [server.client() for _ in range(2)]
    for client in people:
        client.answer(client.join(study))
    server.stop()
    with sqlite3.connect(melicit.folder / "t.db") as db:
        first, = db.execute("SELECT participant FROM event LIMIT 1").fetchone()
        assert db.execute("UPDATE event SET body = '{' WHERE participant = ?", (first,)).rowcount == 1
    server.start()
    told = server.researcher().get(f"/api/admin/studies/{study}")[1]
    assert told["complete"] and {p["id"] == first: p.get("answers") for p in told["live"]} == {True: None, False: 1}
    server.stop()
    lines = melicit("study", "show", study, "--store", "t.db").done().out.splitlines()
    cells = [line.split() for line in lines if " active " in line]
    assert sorted((row[0] == first, row.count("0"), row.count("1")) for row in cells) == [(False, 0, 1), (True, 0, 0)], lines


# memory -------------------------------------------------------------------------------------------

@pytest.mark.plain("sanitizers reserve more address space than any limit")
def test_spaces_without_memory(serve):
    """Whatever the memory lacks for, making a space is refused and the server goes on."""
    server = serve("--limits", "workers=2")
    client = server.client()
    page = client.own()
    # OpenBLAS waits for ever where it does not get its 128 MB of address space: it gets them before.
    assert server.client().own(space={"data": "breast_cancer_original"})["kind"] == "question"
    rows = "".join(f"{i % 97},{i % 89},{'xy'[(i * 7 % 97 > 40) ^ (i % 11 == 0)]}\n" for i in range(100_000))
    status, told = client.json("POST", "/api/upload", "a,b,label\n" + rows, CSV)
    assert status == 200
    space = {"data": f"upload:{told['upload']}", "label": "label", "classes": ["no, really", "yes"]}
    with open(f"/proc/{server.process.pid}/status") as file:
        now = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData"))
    seen, codes = collections.Counter(), ("unavailable", "storage", "memory", "busy")
    for step in range(1, 41):
        resource.prlimit(server.process.pid, resource.RLIMIT_DATA, (now + (step << 20), resource.RLIM_INFINITY))
        try:
            # Another seed is another space.
            body = {**OWN, "space": space, "options": {"seed": step, "max_questions": 5}}
            status, told = server.client().post("/api/start", body)
            assert status in (200, 503), told
            assert status == 200 or (told["error"]["message"] and told["error"]["code"] in codes), told
            seen[status] += 1
            assert client.get("/api/page")[0] in (200, 503)
        except (OSError, http.client.HTTPException):  # the library closes a connection that it has no memory for
            seen[503] += 1
        assert server.process.poll() is None
    resource.prlimit(server.process.pid, resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert seen[200] > 0 and seen[503] > 0, seen
    assert server.client().own(space=space)["kind"] == "question"
    assert client.answer(page)["seq"] == 2
    server.stop()


# files --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("space", [
    {"population": "/etc/passwd"}, {"population": "file:/etc/passwd"}, {"population": "softmax:/etc/passwd"},
    {"population": ["/etc/passwd"]}, {"ball": "/etc/passwd"}, {"ball": "2,2", "radius": 0.1, "prevalence": ["/etc/passwd"]},
    {"data": "/etc/passwd"}, {"data": "upload:../../../etc/passwd"}, {"data": "upload:/etc/passwd"}, {"data": ["/etc/passwd"]},
    {"data": "./breast_cancer_original"}, {"data": "breast_cancer_original.csv.gz"}, {"data": "secret.csv"},
    {"data": "breast_cancer_original", "table": "secret.csv"}, {"table": "secret.csv"},
    {"probs": "secret.csv", "labels": "secret.csv"}, {"data": "german_credit", "groups": "secret.csv"},
    {"data": "breast_cancer_original", "labels": "secret.csv"}, {"data": "breast_cancer_original", "label": "secret.csv"},
    {"data": "breast_cancer_original", "weights": "secret.csv"}, {"data": "breast_cancer_original", "group": "secret.csv"},
], ids=json.dumps)
def test_files_of_the_server_are_out_of_reach(server, melicit, space):
    """Nothing that is sent names a file: what is not bundled or uploaded is refused, without a word of what is in it."""
    melicit.write("secret.csv", "topsecret,label\n1,x\n2,y\n3,x\n4,y\n")
    researcher = server.researcher()
    for status, told in (server.client().post("/api/start", {**OWN, "space": space}),
                         researcher.post("/api/admin/studies", {**small_study(), "space": space})):
        assert status == 400 and told["error"]["message"], told
        assert "topsecret" not in json.dumps(told) and "root:" not in json.dumps(told)
    assert researcher.get("/api/admin/studies")[1]["studies"] == []


# links and proxies --------------------------------------------------------------------------------

def test_labels_need_their_links(server, melicit):
    """Once there are personal links, nobody comes in under a label without its link; before that a label will do."""
    open_study, study = create_study(server), create_study(server)
    assert server.client().join(open_study, label="p01")["seq"] == 1
    early = server.client()
    page = early.answer(early.join(study, label="early"))
    link = links_for(server, study, "p01", "p 02")
    for body in ({"label": "p01"}, {"label": "p03"}, {"prolific": {"PROLIFIC_PID": "p01"}}):
        status, told = server.client().post("/api/join", {"study": study, **body})
        assert status == 403 and told["error"]["code"] == "wrong-link" and "personal link" in told["error"]["message"]
    assert server.client().post("/api/join", {"study": study, "label": "p01", "link": link["p 02"]})[0] == 403
    owner = server.client()
    mine = owner.answer(owner.join(study, label="p01", link=link["p01"]))
    assert server.client().join(study, label="p 02", link=link["p 02"])["seq"] == 1
    # Who is in stays in, with the own cookie; who has no label needs no link; Prolific's own ids neither.
    assert early.join(study, label="early")["seq"] == page["seq"]
    assert owner.join(study, label="p01")["seq"] == mine["seq"]
    assert server.client().join(study)["seq"] == 1
    assert server.client().join(study, prolific={"PROLIFIC_PID": "5f2"})["seq"] == 1
    # Links of the command line count as well, and add to the others.
    assert server.client().join(open_study, label="p02")["seq"] == 1
    made = melicit("study", "links", open_study, "--store", "t.db", "p03", "p04", "--json").done().json["links"]
    assert [x["label"] for x in made] == ["p03", "p04"]
    assert server.client().post("/api/join", {"study": open_study, "label": "p05"})[0] == 403
    more = links_for(server, study, "p05")
    assert server.client().join(study, label="p05", link=more["p05"])["seq"] == 1
    for who in ({"PROLIFIC_PID": "p 02x"}, {"PROLIFIC_PID": "p05x"}):
        assert server.client().join(study, prolific=who)["seq"] == 1
    everything = b"".join((melicit.folder / n).read_bytes() for n in os.listdir(melicit.folder) if n.startswith("t.db"))
    assert all(x.encode() not in everything for x in [*link.values(), *more.values()])


def wrong_logins(server, count, *forwarded):
    """The last status of so many wrong tokens."""
    client = server.client()
    headers = {"X-Forwarded-For": ", ".join(forwarded)} if forwarded else {}
    return [client.post("/api/admin/login", {"token": str(uuid.uuid4())}, **headers)[0] for _ in range(count)][-1]


def test_wrong_tokens_behind_a_proxy(melicit, serve):
    """With --trust-proxy the proxy's clients are told apart; what they write before their own address is not believed."""
    server = serve("--trust-proxy", "127.0.0.1")

    def check(turn):
        one, two, six = f"198.51.100.{2 * turn}", f"198.51.100.{2 * turn + 1}", f"2001:db8:0:{turn}::7"
        assert wrong_logins(server, 25, one) == 429
        assert wrong_logins(server, 1, two) == 403
        assert wrong_logins(server, 1, two, one) == 429
        assert wrong_logins(server, 1, one, six) == 403
        assert wrong_logins(server, 25, six) == 429
        assert wrong_logins(server, 1, f"2001:DB8:0:{turn}:0::0:7") == 429  # the same one
        assert wrong_logins(server, 1, one, "not an address") == 403  # then it is the proxy's own
        assert wrong_logins(server, 1, f"{one},") == 403
        assert server.client().post("/api/admin/login", {"token": server.token}, **{"X-Forwarded-For": one})[0] == 200

    within_a_minute(check)
    server.stop()

    def check_alone(turn):
        assert wrong_logins(server, 25, "198.51.100.1") == 429
        assert wrong_logins(server, 1, "198.51.100.2") == 429

    for options in ((), ("--trust-proxy", "192.0.2.9")):  # nobody else is believed
        server = serve(*options)
        within_a_minute(check_alone)
        server.stop()
    melicit("serve", "--trust-proxy", "localhost", "--port", "0", "--store", "t.db").refused(2, "localhost")


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="there is no ::1 here")
@pytest.mark.parametrize("spelling", ["::1", "0:0:0:0:0:0:0:1", "0::0001"])
def test_a_proxy_by_any_spelling(serve, spelling):
    server = serve("--listen", "::1", "--trust-proxy", spelling)

    def client():
        made = Client(server.port)
        made.connection = http.client.HTTPConnection("::1", server.port, timeout=made.timeout)
        return made

    server.client = client

    def check(turn):
        assert wrong_logins(server, 25, f"198.51.100.{2 * turn}") == 429
        assert wrong_logins(server, 1, f"198.51.100.{2 * turn + 1}") == 403

    within_a_minute(check)
    server.stop()
