"""Running melicit serve: signals, logs, logins, links, a full disk, clocks, backups; and what programs that melicit starts
get from it."""
import contextlib
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import threading
import time

import pytest
from conftest import PROGRAM, environment
from serving import OWN, SLOW, SOAK, Server, create_study, reply_to, small_study
from test_serve_limits import SmallDisk

DAY = 86_400_000


def eventually(check, seconds=300):
    """Whether the check comes true."""
    deadline = time.monotonic() + seconds * SLOW
    while not check() and time.monotonic() < deadline:
        time.sleep(0.05)
    return check()


@pytest.fixture
def serve(melicit):
    """Starts servers; those that still run at the end are killed."""
    with contextlib.ExitStack() as stack:
        def start(*options, **more):
            server = Server(melicit.folder, *options, **more)
            stack.callback(lambda: server.process.poll() is None and server.kill())
            return server
        yield start


@pytest.fixture
def server(serve):
    running = serve()
    yield running
    running.stop()


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# signals and logs ---------------------------------------------------------------------------------

def reload(server):
    server.process.send_signal(signal.SIGHUP)


def test_hangup_reads_limits_and_opens_logs_anew(melicit, serve):
    """SIGHUP after a log was moved away and limits were changed: the server goes on, with both. SIGUSR1 and 2 do nothing."""
    limits = melicit.write("limits.json", '{"joins": 2, "memory": 300}')
    server = serve("--limits", "joins=100", "--limits", "limits.json", "--log", "requests.log", "--log", "audit=audit.log")
    log, audit = melicit.folder / "requests.log", melicit.folder / "audit.log"

    def refused():
        """Whether an address may not start a third session within a minute."""
        return server.client().post("/api/start", {})[0] == 429

    assert eventually(refused)
    study = create_study(server)
    client = server.client()
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        server.process.send_signal(number)
    for path in (log, audit):
        path.rename(f"{path}.1")
    limits.write_text('{"joins": 0}')
    reload(server)
    assert eventually(lambda: log.exists() and audit.exists() and not refused())
    page = client.join(study)
    reload(server)
    client.answer(page)
    server.researcher().get("/api/admin/studies")
    assert {line["path"] for line in lines_of(log)} >= {"/api/join", "/api/event"}
    assert [line["path"] for line in lines_of(audit)] == ["/api/admin/login", "/api/admin/studies"]
    assert "/api/join" not in (melicit.folder / "requests.log.1").read_text()
    for path in (log, audit):
        assert path.stat().st_mode & 0o777 == 0o600
    # What is wrong is said and changes nothing.
    limits.write_text('{"workers": 3}')
    reload(server)
    assert server.process.stderr.readline() == (
        'melicit: warning: nothing is changed: limits.json: "workers" is no limit that can be changed while the server runs\n')
    assert not refused()
    server.stop()


def test_hangup_while_the_server_starts(melicit, serve):
    """A reload while the server waits for its store, which another program keeps locked, does not end it."""
    server = serve()
    server.stop()
    store = str(melicit.folder / "t.db")

    def has_store():
        folder = f"/proc/{server.process.pid}/fd"
        with contextlib.suppress(OSError):  # of before, and files that are closed meanwhile
            return store in [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]
        return False

    with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        starting = threading.Thread(target=server.start)
        starting.start()
        assert eventually(has_store)
        reload(server)
        time.sleep(0.2)
        db.execute("ROLLBACK")
    starting.join()
    time.sleep(0.5)
    assert server.process.poll() is None and server.client().get("/api/datasets")[0] == 200
    server.stop()


@pytest.mark.parametrize("text, part", [("{", "expected a JSON object of limits"), ("[]", "expected a JSON object"), ('{"joins": 1.5}', "whole number from 0"),
                                        ('{"compute": -1}', '"compute" must be a number from 0'), ('{"port": 1}', "no limit that can be changed")])
def test_limits_that_are_refused(melicit, text, part):
    melicit.write("limits.json", text)
    melicit("serve", "--port", 0, "--limits", "stop-after=0.1", "--limits", "limits.json").refused(3, "limits.json: ", part)


def test_a_log_says_when_it_could_not_be_written(melicit, serve):
    """Lines of an audit log on a full disk are counted. Nobody is erased by the clean-up as long as the log cannot say so first;
    a person's own wish does not wait."""
    audit = melicit.folder / "audit.log"
    audit.symlink_to("/dev/full")
    server = serve("--log", "audit=audit.log")
    study = create_study(server, small_study(retention_days=30))
    client = server.client()
    client.join(study)
    old = server.client().join(study) and [
        x["id"] for x in server.researcher().get(f"/api/admin/studies/{study}")[1]["live"]][1]
    with contextlib.closing(sqlite3.connect(melicit.folder / "t.db")) as db, db:
        db.execute("UPDATE participant SET seen = seen - ? WHERE id = ?", (31 * DAY, old))

    def people():
        with contextlib.closing(sqlite3.connect(melicit.folder / "t.db")) as db:
            return [name for name, in db.execute("SELECT id FROM participant ORDER BY created")]

    reload(server)  # and cleans up
    time.sleep(1.5)
    assert old in people()
    status, told = client.post("/api/erase", {"study": study})
    assert status == 200 and people() == [old], told
    audit.unlink()
    reload(server)
    assert eventually(lambda: people() == [])
    lost, erased = lines_of(audit)[:2]
    assert lost["lost"] >= 5 and 0 < lost["since"] <= lost["time"]
    assert erased["erased"] == old and erased["by"] == "retention"
    server.stop()


# disk ---------------------------------------------------------------------------------------------

def no_room(outcome):
    """Whether a request was refused for want of room, with a sentence."""
    status, told = outcome
    assert status in (200, 503), told
    return status == 503 and told["error"]["code"] == "no-room" and "room" in told["error"]["message"]


def answer_until_no_room(client, page):
    """The page whose answer was refused: the server looks at its disk once a second."""
    end = time.monotonic() + 60 * SLOW
    while not no_room(outcome := client.send(page, reply_to(page))) and time.monotonic() < end:
        page = outcome[1]["page"]
        time.sleep(0.1)
    assert no_room(outcome)
    return page


def metric(server, name):
    """Of GET /metrics; None: it is not there."""
    lines = server.client().request("GET", "/metrics")[1].decode().splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(f"{name} ")), None)


def test_the_store_has_room_for_so_much(melicit, serve):
    """Near the limit nobody new is let in, at the limit nothing more is stored, both before the disk is full. Researchers log in,
    see why, and delete; then all goes on."""
    server = serve("--limits", "store-room=4", "--log", "prometheus")
    study, researcher = create_study(server, small_study(questions=40)), server.researcher()
    client = server.client()
    page = client.answer(client.join(study))

    def grow(name, megabytes):
        with contextlib.closing(sqlite3.connect(melicit.folder / "t.db", timeout=60)) as db, db:
            db.execute("INSERT INTO thing (name, bytes, expires) VALUES (?, ?, 0)", (f"upload:{name}", b"x" * int(megabytes * 1e6)))

    def join():
        return server.client().post("/api/join", {"study": study})

    assert metric(server, "melicit_store_limit_bytes") == 4 << 20 and metric(server, "melicit_disk_free_bytes") > 0
    large = "a,b\n" + "1,x\n2,y\n" * 500_000  # alone more than all the room: people under way need the last tenth
    assert no_room(researcher.json("POST", "/api/upload", large, {"Content-Type": "text/csv"}))
    page = client.answer(page)
    grow("first", 3.7)
    assert eventually(lambda: no_room(join()))
    assert no_room(server.client().post("/api/start", {**OWN}))
    assert no_room(server.client().json("POST", "/api/upload", "a,b\n1,2\n", {"Content-Type": "text/csv"}))
    refused = researcher.post("/api/admin/studies", small_study())
    assert no_room(refused) and "store-room" in refused[1]["error"]["message"]
    page = client.answer(page)  # who is under way goes on
    assert client.join(study)["seq"] == page["seq"]
    grow("second", 0.5)
    page = answer_until_no_room(client, page)
    assert client.get("/api/page")[1]["page"]["seq"] == page["seq"]
    assert metric(server, "melicit_store_bytes") > 4e6
    researcher = server.researcher()
    assert {x["id"] for x in researcher.get("/api/admin/uploads")[1]["uploads"]} == {"first", "second"}
    for name in ("first", "second"):
        assert researcher.json("DELETE", f"/api/admin/uploads/{name}", {})[0] == 200
    assert eventually(lambda: not no_room(join()))
    assert eventually(lambda: metric(server, "melicit_store_bytes") < 1e6)
    client.answer(page)
    server.stop()


def test_the_disk_keeps_room(melicit, serve):
    """On a disk that others fill, the server stops before it is full. It starts all the same, and says so."""
    disk = SmallDisk(melicit.folder / "disk", 64)
    try:
        if not disk.mounted:
            pytest.skip("no file system can be mounted here")
        server = serve("--limits", "keep-free=32", store=str(melicit.folder / "disk" / "t.db"), before=disk.before)
        study = create_study(server, small_study(questions=40))
        client = server.client()
        page = client.join(study)

        def fill(megabytes):
            with open(disk.filler, "ab") as file:
                file.write(b"x" * int(megabytes * (1 << 20)))

        fill(34)
        assert eventually(lambda: no_room(server.client().post("/api/join", {"study": study})))
        page = client.answer(page)
        fill(16)
        page = answer_until_no_room(client, page)
        assert server.researcher().get("/api/admin/studies")[0] == 200
        disk.free()
        assert eventually(lambda: not no_room(server.client().post("/api/join", {"study": study})))
        client.answer(page)
        server.stop()
        token = server.token
        server = serve(store=str(melicit.folder / "disk" / "t.db"), before=disk.before)
        server.token = token
        assert "nobody new can take part (--limits keep-free" in server.process.stderr.readline()
        researcher = server.researcher()
        assert researcher.json("DELETE", f"/api/admin/studies/{study}", {})[0] == 200
        assert eventually(lambda: researcher.get("/api/admin/studies")[1]["studies"] == [])
        server.stop()
    finally:
        disk.close()


# logins and links ---------------------------------------------------------------------------------

def test_cookies_of_this_host_alone(serve):
    """Behind TLS no other host, and no page without TLS, can set a cookie that the server takes; without TLS names are plain."""
    server = serve("--public-url", "https://study.example.org")
    study = create_study(server)
    client, researcher = server.client(), server.researcher()
    client.answer(client.join(study))
    client.own()
    for browser, names in ((client, {"__Host-melicit"}), (researcher, {"__Host-melicit_admin"})):
        assert set(browser.cookies) == names
        path = "/api/page" if browser is client else "/api/admin/studies"
        assert browser.get(path)[0] == 200
        browser.cookies = {name.removeprefix("__Host-"): value for name, value in browser.cookies.items()}
        assert browser.get(path)[0] == 403
    client = server.client()
    client.post(f"/api/join?study={study}", {"study": study})
    assert set(client.cookies) == {f"__Host-melicit_s_{study}"}
    words = client.headers["Set-Cookie"].split("; ")
    assert {"Secure", "Path=/", "HttpOnly", "SameSite=Strict"} <= set(words) and not any(x.startswith("Domain") for x in words)
    server.stop()
    server = serve()
    client = server.client()
    client.own()
    assert set(client.cookies) == {"melicit"} and "Secure" not in client.headers["Set-Cookie"]
    server.stop()


def test_a_new_token_ends_logins(server, melicit):
    """A new token, and logout-all, end what researchers have open in their browsers."""
    researcher = server.researcher()
    assert researcher.get("/api/admin/studies")[0] == 200
    melicit("study", "logout-all", "--store", server.store).done()
    assert researcher.get("/api/admin/studies")[0] == 403
    assert researcher.post("/api/admin/studies", small_study())[0] == 403
    researchers = [server.researcher() for _ in range(2)]  # with the token of before
    server.token = melicit("study", "token", "--store", server.store).done().out.strip()
    assert {x.get("/api/admin/studies")[0] for x in researchers} == {403}
    assert server.researcher().get("/api/admin/studies")[0] == 200


def test_links_are_revoked_one_by_one(server, melicit):
    """A revoked link opens nothing, nor does the cookie or the code of whoever came with it; the next link of the label brings
    them back to where they were. Other links stay."""
    study, researcher = create_study(server), server.researcher()

    def links(*labels):
        status, told = researcher.post(f"/api/admin/studies/{study}/links", {"labels": labels})
        assert status == 200, told
        return [x["url"].rsplit("link=", 1)[1] for x in told["links"]]

    first, other = links("p01", "p 02")
    client, neighbour = server.client(), server.client()
    page = client.answer(client.join(study, label="p01", link=first))
    neighbour.answer(neighbour.join(study, label="p 02", link=other))
    code = client.get("/api/page")[1]["page"]["resume"]
    assert researcher.post(f"/api/admin/studies/{study}/revoke", {"labels": ["p01"]})[0] == 200
    assert client.get("/api/page")[0] == 403
    for proof in ({"link": first}, {"resume": code}, {}):
        status, told = server.client().post("/api/join", {"study": study, "label": "p01", **proof})
        assert status in (403, 409), told
    assert neighbour.get("/api/page")[0] == 200
    assert server.client().join(study, label="p 02", link=other)["seq"] == 2
    second, = links("p01")
    assert second != first and links("p01", "p 02") == [second, other]
    assert server.client().join(study, label="p01", link=second)["seq"] == page["seq"]
    assert melicit("study", "revoke", study, "p01", "--store", server.store, "--json").done().json["revoked"] == ["p01"]
    assert server.client().post("/api/join", {"study": study, "label": "p01", "link": second})[0] == 403
    assert links("p01")[0] not in (first, second)
    status, told = researcher.post(f"/api/admin/studies/{study}/revoke", {"labels": ["p03"]})
    assert status == 400 and 'no link was made for "p03"' in told["error"]["message"]
    melicit("study", "revoke", study, "--store", server.store).refused(2, "whose links")
    assert researcher.json("DELETE", f"/api/admin/studies/{study}", {})[0] == 200


def test_studies_are_deleted_on_the_command_line(server, melicit):
    """A whole study goes when it is said twice, with its participants, and the audit log has their ids."""
    goes, stays = create_study(server), create_study(server)
    people = [server.client() for _ in range(3)]
    for client, study in zip(people, (goes, goes, stays)):
        client.answer(client.join(study))
    ids = {x["id"] for x in server.researcher().get(f"/api/admin/studies/{goes}")[1]["live"]}
    study = ("study", "delete", goes, "--store", server.store)
    melicit(*study).refused(2, "--all")
    melicit(*study, min(ids), "--all").refused(2, "leave out")
    melicit("study", "delete", "alone", "--all", "--store", server.store).refused(2, "sessions without one")
    melicit(*study, "--all", "--log", "audit=audit.log").done()
    melicit(*study, "--all").refused(2, goes)
    erased = lines_of(melicit.folder / "audit.log")
    assert {x["erased"] for x in erased} == ids and {x["study"] for x in erased} == {goes}
    assert [client.get("/api/page")[0] for client in people] == [403, 403, 200]
    left = melicit("study", "list", "--store", server.store, "--json").done().json["studies"]
    assert goes not in {x["id"] for x in left} and stays in {x["id"] for x in left}


# housekeeping -------------------------------------------------------------------------------------

def rows_of(melicit, query, *values):
    with contextlib.closing(sqlite3.connect(melicit.folder / "t.db", timeout=60)) as db, db:
        return db.execute(query, values).fetchall()


def add_people(melicit, study, prefix, people, answers, seen):
    """Participants whose answers are never replayed, next to the server's own, whose ids have no 0."""
    ids = [f"{prefix}{i:05d}" for i in range(people)]
    with contextlib.closing(sqlite3.connect(melicit.folder / "t.db", timeout=60)) as db, db:
        db.executemany("INSERT INTO participant (id, study, about, state, created, seen, seed) VALUES (?, ?, '{}', 'left', ?, ?, '1')",
                       ((i, study, seen, seen) for i in ids))
        db.executemany("INSERT INTO event (participant, seq, key, body, time) VALUES (?, ?, ?, ?, ?)",
                       ((i, n, f"k{n}", '{"x": "' + "y" * 500 + '"}', seen) for i in ids for n in range(1, answers + 1)))
    return ids


def add_upload(melicit, name, expires, pieces):
    with contextlib.closing(sqlite3.connect(melicit.folder / "t.db", timeout=60)) as db, db:
        db.execute("INSERT INTO thing (name, bytes, expires, more) VALUES (?, x'', ?, ?)", (f"upload:{name}", expires, pieces << 18))
        db.executemany("INSERT INTO piece VALUES (?, ?, ?)", ((f"upload:{name}", n, b"x" * (1 << 18)) for n in range(pieces)))


def now_ms():
    return int(time.time() * 1000)


def test_a_wrong_clock_is_not_believed_after_a_restart_either(melicit, serve):
    """People who answered while the clock was a year ahead do not make it right: the last housekeeping was a year ago. Nor do many
    restarts, each of which would trust it for a day more."""
    server = serve()
    study = create_study(server, small_study(retention_days=2))
    assert eventually(lambda: rows_of(melicit, "SELECT count(*) FROM thing WHERE name = 'tidied'") == [(1,)])
    server.stop()
    add_people(melicit, study, "p", 5, 2, now_ms() - 365 * DAY)  # to a clock that is a year ahead
    rows_of(melicit, "UPDATE thing SET bytes = CAST(? AS BLOB) WHERE name = 'tidied'", str(now_ms() - 365 * DAY))
    for _ in range(5):
        before = rows_of(melicit, "SELECT bytes FROM thing WHERE name = 'tidied'")
        server.start()
        server.client().join(study)

        def cleaned_up(before=before):
            reload(server)  # which may come before the first clean-up of this start, and then adds nothing to it
            return rows_of(melicit, "SELECT bytes FROM thing WHERE name = 'tidied'") != before

        assert eventually(cleaned_up)
        server.stop()
    assert rows_of(melicit, "SELECT count(*) FROM participant WHERE id LIKE 'p0%'") == [(5,)]


def set_trusted_time(melicit, ago, doubted=0):
    rows_of(melicit, "UPDATE thing SET bytes = CAST(? AS BLOB) WHERE name = 'tidied'", f"{now_ms() - ago} {doubted}")


def test_a_server_that_nobody_visits_forgets(melicit, serve):
    """Restarted every day, it goes by its own clock, not by when somebody was last here."""
    server = serve()
    study = create_study(server, small_study(retention_days=30))
    assert eventually(lambda: rows_of(melicit, "SELECT count(*) FROM thing WHERE name = 'tidied'") == [(1,)])
    server.stop()
    add_people(melicit, study, "p", 5, 2, now_ms() - 30 * DAY + DAY // 2)
    for hours in (20, 0):  # half a day too early, and later
        set_trusted_time(melicit, 20 * DAY // 24)
        rows_of(melicit, "UPDATE participant SET seen = seen - ?", (20 - hours) * DAY // 24)
        server.start()
        if hours == 0:
            assert eventually(lambda: rows_of(melicit, "SELECT count(*) FROM participant") == [(0,)])
        else:
            assert eventually(lambda: trusted_time(melicit)[0] > now_ms() - DAY // 24)
            assert rows_of(melicit, "SELECT count(*) FROM participant") == [(5,)]
        server.stop()


def trusted_time(melicit):
    """Milliseconds since 1970, and for how many the server has run with a clock that says something else."""
    return [int(x) for x in rows_of(melicit, "SELECT CAST(bytes AS TEXT) FROM thing WHERE name = 'tidied'")[0][0].split()]


@pytest.mark.parametrize("ago", [365 * DAY, -365 * DAY])
def test_another_clock_is_believed_after_a_day(melicit, serve, ago):
    """After a long time without the server, or with a clock that was wrong before: a day of running counts, over all restarts."""
    server = serve()
    study = create_study(server, small_study(retention_days=30))
    assert eventually(lambda: rows_of(melicit, "SELECT count(*) FROM thing WHERE name = 'tidied'") == [(1,)])
    server.stop()
    add_people(melicit, study, "p", 5, 2, now_ms() - 31 * DAY)
    set_trusted_time(melicit, ago, DAY - 60_000)
    server.start()
    time.sleep(0.5)
    server.stop()
    trusted, doubted = trusted_time(melicit)
    assert abs(now_ms() - ago - trusted) < DAY // 24 and DAY - 60_000 < doubted < DAY
    assert rows_of(melicit, "SELECT count(*) FROM participant") == [(5 if ago > 0 else 0,)], "nobody is forgotten before their time by either"
    set_trusted_time(melicit, ago, DAY - 1)
    server.start()
    time.sleep(0.1)
    reload(server)
    assert eventually(lambda: trusted_time(melicit)[1] == 0 and rows_of(melicit, "SELECT count(*) FROM participant") == [(0,)])
    assert abs(trusted_time(melicit)[0] - now_ms()) < DAY // 24
    server.stop()


@pytest.mark.parametrize("job", ["expire", "delete", "forget"])
def test_killed_in_the_middle_of_housekeeping(melicit, serve, job):
    """Tables expire, a study is deleted, or people are forgotten, and the server is killed as soon as some of that is done, again and
    again: nothing that stays is touched, what goes is gone in the end, and the audit log has everybody who was erased."""
    server = serve("--log", "audit=audit.log")
    stays, goes, forgets = create_study(server), create_study(server), create_study(server, small_study(retention_days=30))
    client = server.client()
    page = client.answer(client.join(stays))
    assert eventually(lambda: rows_of(melicit, "SELECT count(*) FROM thing WHERE name = 'tidied'") == [(1,)])
    server.stop()
    kills = 17 if SOAK else 2
    kept = add_people(melicit, stays, "s", 40, 5, now_ms()) + add_people(melicit, forgets, "f", 40, 5, now_ms())
    gone = []
    add_upload(melicit, "kept", 0, 8)
    if job == "expire":
        for i in range(10 * kills):
            add_upload(melicit, f"old{i}", now_ms() - DAY, 8)
    elif job == "delete":
        gone = add_people(melicit, goes, "g", 300 * kills, 10, now_ms())
        rows_of(melicit, "UPDATE study SET deleted = 1, state = 'closed' WHERE id = ?", goes)
    else:
        gone = add_people(melicit, forgets, "g", 300 * kills, 10, now_ms() - 31 * DAY)

    def left():
        return rows_of(melicit, "SELECT (SELECT count(*) FROM participant WHERE id LIKE 'g0%') + (SELECT count(*) FROM piece WHERE name <> 'upload:kept')")[0][0]

    def check():
        """Logs are whole for everybody who is not being erased, and have no gap for anybody."""
        assert rows_of(melicit, "PRAGMA integrity_check") == [("ok",)] and rows_of(melicit, "PRAGMA foreign_key_check") == []
        logs = {who: (n, last) for who, n, last in rows_of(melicit, "SELECT participant, count(*), max(seq) FROM event GROUP BY participant")}
        assert all(logs[who] == (5, 5) for who in kept) and all(n == last for n, last in logs.values())
        named = {line["erased"] for line in lines_of(melicit.folder / "audit.log") if "erased" in line}
        assert not named & set(kept) and all(logs.get(who) == (10, 10) for who in gone if who not in named)
        assert rows_of(melicit, "SELECT count(*), sum(length(bytes)) FROM piece WHERE name = 'upload:kept'") == [(8, 8 << 18)]

    for turn in range(kills):
        before = left()
        server.start()
        assert eventually(lambda: left() < before)
        server.kill()
        assert turn > 0 or left() > 0, "it was not in the middle"
        check()
        if left() == 0:
            break
    server.start()
    assert eventually(lambda: left() == 0 and (job != "delete" or rows_of(melicit, "SELECT id FROM study WHERE id = ?", goes) == []))
    check()
    client.port, client.connection = server.port, None
    assert client.answer(page)["seq"] == page["seq"] + 1
    server.stop()


# backups ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("ends", ["stop", "kill"])
def test_a_store_that_cannot_be_written(melicit, serve, ends):
    """On a disk that is mounted for reading a store is listed, shown and exported, also with the log of a server that was killed;
    what would write is refused with a sentence."""
    (melicit.folder / "disk?1%").mkdir()
    server = serve(store="disk?1%/t.db")
    study = create_study(server)
    client = server.client()
    client.walk(client.join(study))
    getattr(server, ends)()
    own = "unshare --mount" if os.geteuid() == 0 else "unshare --user --map-root-user --mount"

    def frozen(*words):
        """The program where the folder is mounted for reading."""
        line = " ".join(shlex.quote(str(word)) for word in words)
        mount = "mount --bind 'disk?1%' 'disk?1%' && mount -o remount,bind,ro 'disk?1%'"
        return melicit.shell(f"umask 022; exec {own} sh -c {shlex.quote(f'{mount} || exit 77; exec melicit {line}')}")

    store = ("--store", "disk?1%/t.db")
    listed = frozen("study", "list", *store, "--json")
    if listed.code == 77:
        pytest.skip("nothing can be mounted here")
    assert [x["id"] for x in listed.done().json["studies"]] == [study]
    assert frozen("study", "show", study, *store, "--json").done().json["participants"]["complete"] == 1
    frozen("study", "export", study, *store, "--as", "jsonl", "--out", "frozen.jsonl").done()
    frozen("study", "export", study, *store, "--as", "sqlite", "--out", "frozen.db").done()
    for words in (("study", "close", study), ("study", "token"), ("study", "links", study, "a"), ("study", "delete", study, "--all"),
                  ("serve", "--port", 0, "--limits", "stop-after=0.1")):
        frozen(*words, *store).refused(4, "disk?1%/t.db: cannot be written")
    if ends == "stop":
        assert os.listdir(melicit.folder / "disk?1%") == ["t.db"]
    melicit.shell(f"umask 022; melicit study export {study} --store 'disk?1%/t.db' --as jsonl --out writable.jsonl").done()
    assert (melicit.folder / "frozen.jsonl").read_text() == (melicit.folder / "writable.jsonl").read_text() != ""
    for name in ("frozen.jsonl", "frozen.db", "writable.jsonl"):
        assert (melicit.folder / name).stat().st_mode & 0o777 == 0o600
    with contextlib.closing(sqlite3.connect(melicit.folder / "frozen.db")) as db:
        assert db.execute("SELECT count(*) FROM event").fetchone()[0] > 5


# children -----------------------------------------------------------------------------------------

WATCH = """import json, os, resource, sys
limits = {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")}
files = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]
json.dump({"limits": limits, "files": files, "environment": dict(os.environ)}, open(sys.argv[1], "w"))
"""
COMMAND = "grep -E 'Sig(Ign|Blk)' /proc/self/status > signals; exec /usr/bin/python3 -IS watch.py seen.json"  # Python ignores some itself


def watch(folder, words, **more):
    """Limits, files, environment, and ignored and blocked signals of COMMAND, which these words start."""
    (folder / "watch.py").write_text(WATCH)
    subprocess.run(words, cwd=folder, env=environment(OMP_NUM_THREADS="3"), stdin=subprocess.DEVNULL, capture_output=True, timeout=600, **more)
    seen = json.loads((folder / "seen.json").read_text())
    (folder / "seen.json").unlink()
    own = 1 << 31 | 1 << 32  # signals of the C library, which posix_spawn ignores
    seen["signals"] = [int(line.split()[1], 16) & ~own for line in (folder / "signals").read_text().splitlines()]
    return seen


def test_children_get_nothing_of_the_program(melicit):
    """A program that answers gets the limits, environment and signals that melicit was started with, and no open file."""
    expected = watch(melicit.folder, ["sh", "-c", COMMAND])
    with open(melicit.write("other", "text")) as other:
        for words in (["elicit", "--population", "logistic:a=5,b=0.7", "--oracle", f"cmd:{COMMAND}", "--session", "s.jsonl"],
                      ["optimise", "--data", "breast_cancer_original", "--validation", "breast_cancer_original",
                       "--metric", f"cmd:{COMMAND}", "--out", "c.json"]):
            seen = watch(melicit.folder, [PROGRAM, *words], pass_fds=[other.fileno()])
            assert seen == expected and seen["files"] == [0, 1, 2], words
