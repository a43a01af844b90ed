"""Every route of the server, and what its own pages send there. The fuzzer and the tests that go through all routes use this list; a
route without an entry fails test_serve_abuse.py."""
import re

from conftest import SOURCE
from serving import OWN, reply_to, small_study

TABLE = "a,b,said,label\n" + "".join(f"{i % 17},{(i * i) % 11 / 11},{i * i % 2},{'xy'[i % 17 > 8 or i % 5 == 0]}\n" for i in range(60))
CSV = {"Content-Type": "text/csv"}


def routes():
    """(method, path with a star for each part that varies) of each route, from the server's own table."""
    text = (SOURCE / "server" / "routes.c").read_text()
    found = re.findall(r'\{ "([A-Z]+)", "(/api/[^"]+)", mel_\w+, [0-9.]+, \w+,', text)
    assert len(found) == text.count('", mel_') > 30
    return found


# Afterwards what a scene is about, or one of those in it, is gone.
ENDING = {("POST", "/api/erase"), ("POST", "/api/leave"), ("POST", "/api/admin/logout"), ("DELETE", "/api/admin/studies/*"),
          ("DELETE", "/api/admin/studies/*/participants/*"), ("DELETE", "/api/admin/uploads/*")}


class Scene:
    """What requests are about: a study with somebody in it, and a session of one's own that is at its result. The study and the uploads
    of a scene may be deleted without harm to other scenes."""

    def __init__(self, server):
        self.server, self.researcher = server, server.researcher()
        status, told = self.researcher.post("/api/admin/studies", small_study(questions=2, evaluation=2))
        assert status == 200, told
        self.study = told["id"]
        self.client, self.owner = server.client(), server.client()
        self.page = self.client.join(self.study)
        self.person = self.researcher.get(f"/api/admin/studies/{self.study}")[1]["live"][0]["id"]
        status, told = self.owner.json("POST", "/api/upload", TABLE, CSV)
        assert status == 200, told
        self.upload = told["upload"]
        self.own_page = self.owner.own(space={"data": "breast_cancer_original"}, options={"max_questions": 3})
        while self.own_page["kind"] == "question":
            self.own_page = self.owner.answer(self.own_page)
        status, told = self.owner.post("/api/share", {})
        assert status == 200, told
        self.link = told["path"].removeprefix("/r/")

    def requests(self):
        """{(method, route): [(who, path, body), ..]}"""
        ident, proof = self.link.split("/")
        uploaded = {**OWN, "space": {"data": f"upload:{self.upload}", "label": "label"}}
        event = {"seq": self.page["seq"], "key": f"the-key-of-{self.page['seq']}", "value": reply_to(self.page), "seconds": 1}
        later = {"seq": self.own_page["seq"], "key": "key-later-1", "seconds": 1}
        anybody = {
            ("POST", "/api/join"): [("/api/join", {"study": self.study, **more}) for more in (
                {}, {"label": "l", "link": "k", "resume": "abcdefghjkmn"}, {"prolific": {"PROLIFIC_PID": "p", "STUDY_ID": "s"}})],
            ("GET", "/api/page"): [("/api/page", None)],
            ("POST", "/api/undo"): [("/api/undo", {"seq": self.page["seq"], "key": "key-undo-1"})],
            ("POST", "/api/leave"): [("/api/leave", {})],
            ("GET", "/api/mine"): [("/api/mine", None)],
            ("POST", "/api/erase"): [("/api/erase", {})],
        }
        own = {
            ("POST", "/api/start"): [("/api/start", OWN), ("/api/start", uploaded), ("/api/start", {"like": {"id": ident, "proof": proof}})],
            ("POST", "/api/check"): [("/api/check", body) for body in (OWN, uploaded, {**OWN, "space": {"data": "breast_cancer_original"}})],
            ("POST", "/api/upload"): [("/api/upload", TABLE)],
            ("POST", "/api/columns"): [("/api/columns", {"upload": self.upload, "columns": [{"name": "p", "from": "b"}, {"name": "q", "from": "a"}]})],
            ("GET", "/api/datasets"): [("/api/datasets", None)],
            ("GET", "/api/result"): [("/api/result", None)],
            ("GET", "/api/result/*"): [(f"/api/result/{what}", None) for what in ("metric", "session", "report")],
            ("POST", "/api/decisions"): [("/api/decisions", {"upload": self.upload, "columns": ["b"], "calibrated": True}),
                                         ("/api/decisions", {"calibrated": False})],
            ("POST", "/api/today"): [("/api/today", {"upload": self.upload, "truth": "said", "decision": "said"})],
            ("POST", "/api/share"): [("/api/share", {})],
            ("GET", "/api/shared/*/*"): [(f"/api/shared/{self.link}", None)],
        }
        all_, about = "/api/admin/studies", f"/api/admin/studies/{self.study}"
        admin = {
            ("POST", "/api/admin/login"): [("/api/admin/login", {"token": "x"})],
            ("POST", "/api/admin/logout"): [("/api/admin/logout", {})],
            ("GET", "/api/admin/studies"): [(all_, None)],
            ("POST", "/api/admin/studies"): [(all_, small_study(questions=2))],
            ("POST", "/api/admin/preview"): [("/api/admin/preview", small_study(questions=2))],
            ("GET", "/api/admin/studies/*"): [(about, None)],
            ("DELETE", "/api/admin/studies/*"): [(about, {})],
            ("GET", "/api/admin/studies/*/participants/*"): [(f"{about}/participants/{self.person}", None)],
            ("POST", "/api/admin/studies/*/state"): [(f"{about}/state", {"state": state}) for state in ("archived", "open")],
            ("POST", "/api/admin/studies/*/links"): [(f"{about}/links", {"labels": ["a", "b"]})],
            ("POST", "/api/admin/studies/*/revoke"): [(f"{about}/revoke", {"labels": ["a"]})],
            ("GET", "/api/admin/studies/*/*"): [(f"{about}/export.{ending}", None) for ending in ("csv", "jsonl", "sqlite")],
            ("DELETE", "/api/admin/studies/*/participants/*"): [(f"{about}/participants/{self.person}", {})],
            ("POST", "/api/admin/studies/*/rehearse"): [(f"{about}/rehearse", {"participants": 1, "metric": 7, "noise": "none"})],
            ("POST", "/api/admin/studies/*/plan"): [(f"{about}/plan", {"participants": 2, "metric": 7, "noise": "none", "width": 2, "spread": 0.1})],
            ("GET", "/api/admin/uploads"): [("/api/admin/uploads", None)],
            ("DELETE", "/api/admin/uploads/*"): [(f"/api/admin/uploads/{self.upload}", {})],
        }
        found = {route: [(who, *request) for request in requests]
                 for who, part in ((self.client, anybody), (self.owner, own), (self.researcher, admin)) for route, requests in part.items()}
        found["POST", "/api/event"] = [(self.client, "/api/event", event)] + [
            (self.owner, "/api/event", {**later, "value": value}) for value in ({"more": True}, {"again": True}, {})]
        return found
