"""melicit serve on a PostgreSQL database: the flows of test_serve, and two servers that share the database."""
import concurrent.futures
import os
import signal
import sqlite3
import subprocess
import time
import uuid

import pytest
from postgres import TOOLS, Postgres
from serving import OWN, Client, Server, create_study, reply_to, same_person, small_study, take_turns
from test_serve import (  # noqa: F401: the same tests, on the other store
    test_closed_and_full_studies, test_own_session, test_prolific_ids_open_no_labels, test_prolific_parameters,
    test_quota_counts_people, test_ready_studies, test_refusing_consent, test_rehearsal_over_http, test_resume_policies,
    test_resume_reload_and_labels, test_stopping_under_load, test_uploads, test_who_has_sent_nothing_may_come_again)
from test_serve_operations import (  # noqa: F401
    metric, no_room, test_a_new_token_ends_logins, test_links_are_revoked_one_by_one, test_studies_are_deleted_on_the_command_line)

pytestmark = pytest.mark.skipif(not TOOLS, reason="PostgreSQL's server is not installed")


@pytest.fixture(scope="module")
def postgres():
    running = Postgres()
    yield running
    running.remove()


@pytest.fixture(scope="module")
def database(postgres):
    return postgres.url()


@pytest.fixture
def server(database, melicit):
    running = Server(melicit.folder, store=database)
    # A server tells its token on an empty store only.
    running.token = melicit("study", "token", "--store", database, "--json").done().json["token"]
    yield running
    running.stop()


def test_two_servers_share_a_database(server, database, melicit):
    """One person, two processes, one of them killed: nothing acknowledged is lost, and both see the same."""
    second = Server(melicit.folder, store=database)
    study = create_study(server)
    client = server.client()
    page = client.join(study)
    other = same_person(client, second.port)
    page = take_turns(page, 8, (client, other))
    second.kill()
    second.start()
    other = same_person(client, second.port)
    assert other.get("/api/page")[1]["page"]["seq"] == page["seq"]
    while page["kind"] != "done":
        status, told = other.send(page, reply_to(page))
        assert status == 200, told
        page = told["page"]
    second.stop()
    exported = melicit("study", "export", study, "--store", database, "--as", "jsonl", "--out", "all.jsonl").done()
    assert exported and (melicit.folder / "all.jsonl").read_text().count("\n") >= page["seq"] - 1


def test_the_database_restarts(server, postgres, melicit):
    """PostgreSQL goes away under a running server and comes back: 503 in between, no restart, nothing is lost."""
    study = create_study(server)
    people = [server.client() for _ in range(4)]
    pages = [c.join(study) for c in people]
    acknowledged, refused = [], []

    def answer(i):
        key = str(uuid.uuid4())
        status, told = people[i].send(pages[i], reply_to(pages[i]), key)
        assert status in (200, 503), told
        if status == 200:
            acknowledged.append(key)
            pages[i] = told["page"]
        else:
            assert told["error"]["message"] and "Retry-After" in people[i].headers
            refused.append(told["error"]["code"])
        return status

    for how in ("fast", "immediate"):
        assert [answer(i) for i in range(4)] == [200] * 4
        postgres.halt(how)
        try:
            assert [answer(i) for i in range(4)] == [503] * 4
            assert server.client().post("/api/join", {"study": study})[0] == 503
            assert people[0].get("/api/page")[0] == 503
            assert server.client().get("/api/datasets")[0] == 200
        finally:
            postgres.start()
        for i in range(4):
            assert people[i].get("/api/page")[1]["page"]["seq"] == pages[i]["seq"]
    assert set(refused) == {"storage"}
    for i in range(4):
        while pages[i]["kind"] != "done":
            assert answer(i) == 200
    status, copy = server.researcher().request("GET", f"/api/admin/studies/{study}/export.sqlite")
    assert status == 200
    with sqlite3.connect(melicit.write("copy.db", copy)) as db:
        assert sorted(key for key, in db.execute("SELECT key FROM event")) == sorted(acknowledged)


def test_a_database_has_room_for_so_much(database, melicit):
    """The limit of the store holds for its tables; what is free on the disk of a database is not known here."""
    server = Server(melicit.folder, "--limits", "store-room=0.001", "--log", "prometheus", store=database)
    server.token = melicit("study", "token", "--store", database, "--json").done().json["token"]
    assert no_room(server.client().post("/api/start", OWN))
    assert no_room(server.researcher().post("/api/admin/studies", small_study()))
    assert metric(server, "melicit_store_bytes") > 1e4 and metric(server, "melicit_disk_free_bytes") is None
    assert "nobody new can take part" in server.process.stderr.readline()
    server.stop()


def test_somebody_who_may_only_read(server, database, melicit):
    """A user of the database who may only read lists and exports; what would write is refused."""
    study = create_study(server)
    client = server.client()
    client.walk(client.join(study))
    rights = ("CREATE ROLE reader LOGIN", "GRANT USAGE ON SCHEMA melicit TO reader", "GRANT SELECT ON ALL TABLES IN SCHEMA melicit TO reader")
    subprocess.run(["psql", "--quiet", "--set=ON_ERROR_STOP=1", *(word for line in rights for word in ("-c", line)), database], check=True)
    store = ("--store", database.replace("melicit@", "reader@"))
    assert study in {x["id"] for x in melicit("study", "list", *store, "--json").done().json["studies"]}
    assert melicit("study", "export", study, *store, "--as", "jsonl").done().out.count("\n") > 5
    melicit("study", "close", study, *store).refused(4, "permission denied")


def test_without_its_library(melicit):
    """libpq is loaded when it is asked for: who has none is told so, and everything else works."""
    melicit.write("libpq.so.5", "")
    missing = {"LD_LIBRARY_PATH": str(melicit.folder)}
    melicit("study", "token", "--store", "postgres://melicit@/nothing", env=missing).refused(4, "libpq cannot be loaded", "install libpq5")
    melicit("study", "token", "--store", "a.db", env=missing).done()


def test_a_database_that_hangs(database, melicit):
    """PostgreSQL stops in the middle of everything: pages and the health check wait for nothing, and the server ends within 5 s."""
    # Threads that wait for the database are left behind on purpose.
    server = Server(melicit.folder, store=database, env={"TSAN_OPTIONS": "report_thread_leaks=0"})
    server.token = melicit("study", "token", "--store", database, "--json").done().json["token"]
    study = create_study(server)
    folder = database.split("host=")[1]
    with open(f"{folder}/data/postmaster.pid") as file:
        parent = int(file.readline())
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        hung = [parent, *map(int, file.read().split())]
    pool = concurrent.futures.ThreadPoolExecutor(40)
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    try:
        waiting = [pool.submit(lambda: Client(server.port, 10).post("/api/join", {"study": study})) for _ in range(40)]
        time.sleep(0.5)
        for path in ("/health", "/", f"/s/{study}"):
            assert server.client().request("GET", path)[0] == 200
            assert not any(join.done() for join in waiting), path
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=600) == 0  # PostgreSQL still does not answer
    finally:
        for pid in hung:
            os.kill(pid, signal.SIGCONT)
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        server.close_pipes()
        pool.shutdown()
