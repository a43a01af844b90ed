"""Several servers on one PostgreSQL database behind haproxy and pgbouncer: who dies or restarts, nobody loses an answer."""
import collections
import json
import re
import shutil
import signal
import subprocess
import threading
import time
import uuid

import pytest
from cluster import PROXIES, TOOLS, Database, Proxy, free_ports
from conftest import PROGRAM, SOURCE, environment
from serving import Client, Server, create_study, in_threads, reply_to, small_study

pytestmark = [pytest.mark.plain("several servers behind proxies"), pytest.mark.skipif(not TOOLS or None in PROXIES, reason="PostgreSQL, haproxy and pgbouncer are needed")]


class Cluster:
    """Servers with ports of their own, so that one that starts again is found where it was."""

    def __init__(self, folder, database, n):
        self.ports = free_ports(n)
        self.servers = [Server(folder, "--port", str(port), "--trust-proxy", "127.0.0.1", "--limits", "drain=3", "--log", "prometheus", store=database.pooled)
                        for port in self.ports]
        told = subprocess.run([PROGRAM, "study", "token", "--store", database.pooled, "--json"], cwd=folder, check=True, capture_output=True)
        self.servers[0].token = json.loads(told.stdout)["token"]
        self.proxy = Proxy(folder, self.ports)

    def stop(self):
        self.proxy.stop()
        for server in self.servers:
            server.process.kill()
            server.process.wait()
            server.close_pipes()


@pytest.fixture(scope="module")
def database():
    running = Database()
    yield running
    running.stop()


@pytest.fixture
def cluster(database, melicit):
    running = Cluster(melicit.folder, database, 3)
    yield running
    running.stop()


class Person:
    """Somebody in a browser behind the proxy, who sends an answer again until it is taken, as the page does."""

    def __init__(self, port, study):
        self.client, self.study = Client(port, 90), study
        self.page, self.keys, self.statuses = None, [], collections.Counter()

    def insist(self, what):
        """what() until its status is 200; the answer."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            try:
                status, told = what()
            except (OSError, ValueError):  # no server behind the proxy: its own page, not JSON
                status, told = 0, None
            self.statuses[status] += 1
            if status == 200:
                return told
            assert status in (0, 502, 503, 504), told
            time.sleep(0.1)
        raise AssertionError("a retry did not cure it")

    def join(self):
        self.page = self.insist(lambda: self.client.post("/api/join", {"study": self.study}))["page"]

    def answer(self):
        key, page = str(uuid.uuid4()), self.page
        told = self.insist(lambda: self.client.send(page, reply_to(page), key))
        self.keys.append(key)
        self.page = told["page"]

    def walk(self, pause=0.0):
        while self.page["kind"] != "done":
            self.answer()
            time.sleep(pause)


def check_store(database, study, people):
    """Every acknowledged answer is there once, in the order in which it was given, and nothing besides."""
    rows = database.ask("SELECT e.participant, e.seq, e.key FROM melicit.event e JOIN melicit.participant p ON p.id = e.participant "
                        f"WHERE p.study = '{study}' ORDER BY e.participant, e.seq")
    logs = collections.defaultdict(list)
    for participant, seq, key in rows:
        logs[participant].append(key)
        assert int(seq) == len(logs[participant])
    assert sorted(logs.values()) == sorted(person.keys for person in people)


def test_servers_and_the_database_die(cluster, database):
    """Servers are killed and PostgreSQL restarts while people answer: a retry of the page cures whatever they see."""
    study = create_study(cluster.servers[0], small_study(questions=16))
    people = [Person(cluster.proxy.port, study) for _ in range(12)]
    in_threads(len(people), lambda i: people[i].join())
    walking = threading.Thread(target=in_threads, args=(len(people), lambda i: people[i].walk(0.1)))
    walking.start()
    for server in cluster.servers[:2]:
        time.sleep(0.4)
        server.kill()
        server.start()
    database.restart("immediate")
    walking.join()
    assert all(person.page["kind"] == "done" for person in people)
    check_store(database, study, people)


def test_rolling_restart(cluster, database):
    """All servers are replaced one after the other, and no request fails."""
    study = create_study(cluster.servers[0], small_study(questions=60))
    people = [Person(cluster.proxy.port, study) for _ in range(6)]
    in_threads(len(people), lambda i: people[i].join())
    rolling = threading.Event()

    def go_on(person):
        while person.page["kind"] != "done" and not rolling.is_set():
            person.answer()
            time.sleep(0.2)

    walking = threading.Thread(target=in_threads, args=(len(people), lambda i: go_on(people[i])))
    walking.start()
    for server in cluster.servers:
        server.process.send_signal(signal.SIGTERM)
        until = time.monotonic() + 3
        seen = set()
        while server.process.poll() is None:
            if time.monotonic() < until - 1:
                seen.add(Client(server.port).request("GET", "/healthz")[0])
                assert Client(server.port).request("GET", "/health")[0] == 200
            time.sleep(0.2)
        assert server.process.returncode == 0 and 503 in seen
        server.close_pipes()
        server.start()
        assert Client(server.port).get("/healthz") == (200, {"ok": True})
    rolling.set()
    walking.join()
    for person in people:
        assert set(person.statuses) == {200}
        assert len(person.keys) > 10
    check_store(database, study, people)


def test_any_server_serves_anybody(cluster, database):
    """The same answer at two servers at the same moment: it is stored once, and both give the same next page."""
    study = create_study(cluster.servers[0], small_study(questions=8))
    first = Client(cluster.ports[0])
    page = first.join(study)
    others = []
    for port in cluster.ports:
        other = Client(port)
        other.cookies, other.csrf = first.cookies, first.csrf
        others.append(other)
    keys = []
    while page["kind"] != "done":
        key, told = str(uuid.uuid4()), [None] * len(others)

        def send(i, page=page, key=key, told=told):
            told[i] = others[i].send(page, reply_to(page), key)

        in_threads(len(others), send)
        assert [status for status, _ in told] == [200] * len(others)
        assert len({json.dumps(answer["page"], sort_keys=True) for _, answer in told}) == 1
        keys.append(key)
        page = told[0][1]["page"]
    person = Person(0, study)
    person.keys = keys
    check_store(database, study, [person])


def test_metrics(cluster):
    """Prometheus' text: requests are counted by route and status, histograms add up, and nobody gets it through the proxy."""
    study = create_study(cluster.servers[0])
    client = Client(cluster.ports[0])
    client.walk(client.join(study))
    status, text = Client(cluster.ports[0]).request("GET", "/metrics")
    assert status == 200
    values = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
    typed = set(re.findall(r"^# TYPE (\w+) ", text.decode(), re.M))
    assert {re.sub(r"_(bucket|sum|count)?$", "", re.split(r"[{ ]", name)[0]) for name in values} <= typed
    answers = float(values['melicit_requests_total{method="POST",route="/api/event",status="2xx"}'])
    route = '{method="POST",route="/api/event"'
    assert answers > 8 and answers == float(values[f"melicit_request_seconds_count{route}}}"])
    buckets = [float(value) for name, value in values.items() if name.startswith(f"melicit_request_seconds_bucket{route}")]
    assert buckets == sorted(buckets) and len(buckets) == 12 and buckets[-1] == answers
    assert 1e6 < float(values["process_resident_memory_bytes"]) < 1e9 and float(values["process_open_fds"]) > 3
    assert b"melicit_requests_total" not in Client(cluster.proxy.port).request("GET", "/metrics")[1]
    assert study not in text.decode()
    for header in ({"Host": "evil.example"}, {"X-Real-IP": "203.0.113.1"}, {"Forwarded": "for=203.0.113.1"}):
        assert b"melicit_requests_total" not in Client(cluster.ports[0]).request("GET", "/metrics", headers=header)[1]


def commands(which):
    """The block of shell commands with this number under "Backup and restore" of docs/deployment.md."""
    text = (SOURCE / "docs" / "deployment.md").read_text().split("## Backup and restore")[1]
    return re.findall(r"```sh\n(.*?)```", text, re.S)[which]


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
def test_backup_and_restore(kind, database, melicit):
    """The commands of docs/deployment.md: what was there at the backup is there again, and people go on from it."""
    store = database.direct if kind == "postgres" else "studies.db"
    save, restore = (commands(0), commands(1)) if kind == "postgres" else (commands(2), commands(3))

    def run(text):
        subprocess.run(["sh", "-eu", "-c", f"umask 022\n{text}"], cwd=melicit.folder, check=True, env={**environment(), "STORE": store})

    server = Server(melicit.folder, store=store)
    server.token = melicit("study", "token", "--store", store, "--json").done().json["token"]
    study, client = create_study(server), server.client()
    page = client.answer(client.join(study))
    run(save)
    saved = melicit.folder / ("studies.dump" if kind == "postgres" else "studies-copy.db")
    assert saved.stat().st_mode & 0o777 == 0o600
    client.answer(client.answer(page))
    later = server.client()
    later.join(study)
    server.stop()
    if kind == "sqlite":
        (melicit.folder / store).unlink()
    run(restore)
    assert kind == "postgres" or (melicit.folder / store).stat().st_mode & 0o777 == 0o600
    server.start()
    client.port, client.connection, later.port, later.connection = server.port, None, server.port, None
    assert client.get("/api/page")[1]["page"]["seq"] == page["seq"]
    assert client.walk(page)["kind"] == "done"
    assert later.get("/api/page")[0] == 403
    server.stop()


def test_units_of_the_cluster(melicit):
    """The unit with the settings for several servers is one that systemd reads, and the command line one that the program takes."""
    settings = (SOURCE / "deploy" / "cluster.conf").read_text()
    command = re.search(r"ExecStart=(/.*?[^\\])\n", settings, re.S).group(1).replace("\\\n", " ").split()
    options = subprocess.run([PROGRAM, "help", "serve", "--all"], capture_output=True, text=True, env=environment()).stdout
    assert all(word in options for word in command if word.startswith("--"))
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here")
    folder = melicit.folder / "melicit@.service.d"
    folder.mkdir()
    (folder / "cluster.conf").write_text(settings.replace("/usr/local/bin/melicit", str(PROGRAM)))
    unit = melicit.folder / "melicit@.service"
    unit.write_text((SOURCE / "deploy" / "melicit.service").read_text().replace("/usr/local/bin/melicit", str(PROGRAM)))
    instance = melicit.folder / "melicit@8081.service"
    instance.symlink_to(unit.name)
    read = subprocess.run(["systemd-analyze", "verify", "--recursive-errors=no", "--man=no", str(instance)], capture_output=True, text=True,
                          env={**environment(), "SYSTEMD_UNIT_PATH": f"{melicit.folder}:"})
    assert read.returncode == 0 and "melicit" not in read.stderr, read.stderr
