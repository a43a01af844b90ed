"""melicit serve on a PostgreSQL database: the flows of test_serve, and two servers that share the database."""
import glob
import os
import shutil
import subprocess
import tempfile

import pytest
from serving import Client, Server, create_study, reply_to, take_turns
from test_serve import (  # noqa: F401: the same tests, on the other store
    test_closed_and_full_studies, test_own_session, test_prolific_ids_open_no_labels, test_prolific_parameters,
    test_quota_counts_people, test_ready_studies, test_refusing_consent, test_rehearsal_over_http, test_resume_policies,
    test_resume_reload_and_labels, test_stopping_under_load, test_uploads, test_who_has_sent_nothing_may_come_again)

TOOLS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
pytestmark = pytest.mark.skipif(not TOOLS, reason="PostgreSQL's server is not installed")


def tool(name, *words):
    """initdb and the server refuse to run as root."""
    other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*other, f"{TOOLS[-1]}/{name}", *words], check=True, stdout=subprocess.DEVNULL, cwd="/")


@pytest.fixture(scope="module")
def database():
    folder = tempfile.mkdtemp(prefix="melicit-pg-")
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    tool("initdb", "-A", "trust", "-U", "melicit", "-D", f"{folder}/data")
    tool("pg_ctl", "-D", f"{folder}/data", "-o", f"-k {folder} -h ''", "-l", f"{folder}/log", "-w", "start")
    yield f"postgres://melicit@/postgres?host={folder}"
    tool("pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder)


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
    other = Client(second.port)
    other.cookies, other.csrf = client.cookies, client.csrf
    page = take_turns(page, 8, (client, other))
    second.kill()
    second.start()
    other = Client(second.port)
    other.cookies, other.csrf = client.cookies, client.csrf
    assert other.get("/api/page")[1]["page"]["seq"] == page["seq"]
    while page["kind"] != "done":
        status, told = other.send(page, reply_to(page))
        assert status == 200, told
        page = told["page"]
    second.stop()
    exported = melicit("study", "export", study, "--store", database, "--format", "jsonl", "--out", "all.jsonl").done()
    assert exported and (melicit.folder / "all.jsonl").read_text().count("\n") >= page["seq"] - 1
