"""A server of one's own, and clients that talk to it over raw HTTP."""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid

from conftest import PROGRAM, SANITIZED, SOURCE, environment

SOAK = os.environ.get("MELICIT_SOAK") == "1"
SLOW = 8 if SANITIZED else 1

OWN = {
    "space": {"population": "logistic:a=5,b=0.7", "classes": ["healthy", "cancer"]},
    "words": {"people": "patients", "mistakes": {"missed": "missed cancer", "false_alarm": "false alarm"}},
    "family": "linear",
    "options": {"max_questions": 12, "tolerance": 0.02},
}


def small_study(questions=6, evaluation=3, **more):
    """A study without data, quick to walk through."""
    return {
        "format": "melicit-study", "version": 1, "title": "A test", "space": OWN["space"], "words": OWN["words"],
        "elicitation": {"family": "linear", "tolerance": 0.001, "max_questions": questions, "assume": "none",
                        "repeat_every": 0},
        "phases": [
            {"kind": "consent", "version": "1", "title": "Consent", "text": "May we?"},
            {"kind": "form", "title": "You", "fields": [{"name": "age", "label": "Age", "type": "number"},
                                                       {"name": "note", "label": "Note", "type": "long"}]},
            {"kind": "guess", "title": "Guess"},
            {"kind": "elicitation"},
            {"kind": "evaluation", "questions": evaluation, "radius": 0.1},
            {"kind": "done", "title": "Thanks", "code": True},
        ], **more,
    }


class Server:
    """melicit serve on a store; a new process on the same store after kill()."""

    def __init__(self, folder, *options, store="t.db", limits=None, env=None, before=()):
        """before: words of another program that runs melicit in its place."""
        # Here everybody is at one address, and a sanitized program is larger and slower.
        usual = {"--port": ["--port", "0"], "joins=": ["--limits", "joins=0"],
                 **({"memory=": ["--limits", "memory=0"], "compute=": ["--limits", "compute=100"]} if SANITIZED else {})}
        more = [word for name, words in usual.items() if not any(str(option).startswith(name) for option in options) for word in words]
        self.folder, self.options, self.store, self.limits, self.before = folder, (*more, *options), store, limits, before
        self.env = env or {}
        self.token = None
        self.start()

    def start(self):
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [*self.before, PROGRAM, "serve", "--json", "--store", self.store, *self.options], cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**self.env),
            preexec_fn=self.limits)
        text = ""
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            text += line
            try:
                told = json.loads(text)
                break
            except ValueError:
                continue
        self.port = told["port"]
        self.token = told["token"] or self.token
        self.seconds_to_start = time.monotonic() - begun

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.close_pipes()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=600)
        said = self.process.stderr.read()
        self.close_pipes()
        assert code == 0 and said == "", (code, said)

    def close_pipes(self):
        self.process.stdout.close()
        self.process.stderr.close()

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def client(self):
        return Client(self.port)

    def researcher(self):
        client = self.client()
        assert client.post("/api/admin/login", {"token": self.token})[0] == 200
        return client

    def raw(self, data, wait=2.0):
        """What comes back for these bytes, and whether the connection was closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait * SLOW) as s:
            got = b""
            try:
                s.sendall(data)
            except OSError:
                pass
            try:
                while True:
                    piece = s.recv(65536)
                    if not piece:
                        return got, True
                    got += piece
            except socket.timeout:
                return got, False
            except OSError:
                return got, True


class Client:
    """A browser, as far as cookies and CSRF tokens go."""

    def __init__(self, port, timeout=300):
        self.port, self.timeout = port, timeout
        self.cookies, self.csrf, self.connection, self.headers = {}, "first", None, {}

    def request(self, method, path, body=None, headers=None):
        """Status, headers, bytes; one more try on a connection that the server has closed meanwhile."""
        sent = {"X-Melicit-CSRF": self.csrf}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        if body is not None:
            sent["Content-Type"] = "application/json"
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        sent.update(headers or {})
        sent = {k: v for k, v in sent.items() if v is not None}
        for fresh in (False, True):
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
                fresh = True
            try:
                self.connection.request(method, path, body, sent)
                answer = self.connection.getresponse()
                data = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
                if fresh:
                    raise
        self.headers = dict(answer.getheaders())
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer.status, data

    def json(self, method, path, body=None, headers=None):
        status, data = self.request(method, path, body, headers)
        told = json.loads(data)
        if isinstance(told, dict):
            self.csrf = told.get("csrf") or (told.get("page") or {}).get("csrf") or self.csrf
        return status, told

    def get(self, path, **headers):
        return self.json("GET", path, headers=headers)

    def post(self, path, body, **headers):
        return self.json("POST", path, body, headers)

    def join(self, study, **more):
        status, told = self.post("/api/join", {"study": study, **more})
        assert status == 200, told
        return told["page"]

    def own(self, **more):
        status, told = self.post("/api/start", {**OWN, **more})
        assert status == 200, told
        return told["page"]

    def send(self, page, value, key=None, **more):
        body = {"seq": page["seq"], "key": key or str(uuid.uuid4()), "value": value, "seconds": 1.5, **more}
        return self.post("/api/event", body)

    def answer(self, page, key=None):
        """Answers whatever the page is; the next page."""
        status, told = self.send(page, reply_to(page), key)
        assert status == 200, told
        return told["page"]

    def walk(self, page):
        while page["kind"] not in ("done", "bye"):
            page = self.answer(page)
        return page


def weigh(counts, ratio=7.0):
    """What somebody for whom a miss is worth so many false alarms thinks of a system."""
    return -(ratio * counts[1][0] + counts[0][1]) / sum(map(sum, counts))


def reply_to(page):
    kind = page["kind"]
    if kind == "consent":
        return {"agreed": True, "version": page["version"]}
    if kind == "form":
        return {f["name"]: 30 if f["type"] == "number" else f.get("choices", ["text"])[0] for f in page["fields"]}
    if kind == "guess":
        return {"ratio": 7.0}
    if kind == "training":
        return {"answer": (page["choices"] or [1])[0]}
    if kind == "question":
        return {"answer": "A" if weigh(page["question"]["a"]) > weigh(page["question"]["b"]) else "B"}
    return {}


def create_study(server, study=None):
    status, told = server.researcher().post("/api/admin/studies", study or small_study())
    assert status == 200, told
    return told["id"]


def ready_study(name):
    return json.loads((SOURCE / "studies" / f"{name}.json").read_text())


def take_turns(page, turns, clients):
    """One person answers in several browsers by turns; each shows what the others have stored. The last page."""
    for turn in range(turns):
        here = clients[turn % len(clients)]
        assert here.get("/api/page")[1]["page"]["seq"] == page["seq"]
        status, told = here.send(page, reply_to(page))
        assert status == 200, told
        page = told["page"]
    return page


def in_threads(count, work):
    """Runs work(i) in so many threads; failures are raised here."""
    failures = []

    def guarded(i):
        try:
            work(i)
        except BaseException as problem:  # noqa: B902 - raised below
            failures.append(problem)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]


def within_a_minute(check):
    """Runs check(turn), which is about what the server counts by the minute of this clock; again, with another turn, where it
    failed and a minute ended meanwhile."""
    for turn in range(5):
        minute = time.monotonic() // 60
        try:
            return check(turn)
        except AssertionError:
            if time.monotonic() // 60 == minute or turn == 4:
                raise


def same_person(client, port):
    """The same browser, at another server."""
    other = Client(port)
    other.cookies, other.csrf = client.cookies, client.csrf
    return other


DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def page_request(address, body=None):
    """What the page of `melicit serve --relay` and `optimise --oracle browser` sends: status and JSON."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with DIRECT.open(urllib.request.Request(address, data, {"Content-Type": "application/json"}), timeout=300) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def survey_of(researcher, study):
    """What the server knows of a study once it has found out about everybody, which it does in pieces."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        told = researcher.get(f"/api/admin/studies/{study}")[1]
        if told["complete"] and told["pooled"] is not None:
            return told
        time.sleep(0.02)
    raise AssertionError("the survey is not complete")


def open_question(url):
    """The one that is open now, or that there are no more."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        state = page_request(url + "question")[1]
        if "waiting" not in state:
            return state
        time.sleep(0.02)
    raise AssertionError("no question")
