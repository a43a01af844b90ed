"""melicit serve and melicit study: whole flows, joining and coming back, researchers' requests, exports."""
import csv
import gzip
import http.client
import io
import json
import math
import re
import sqlite3
import threading
import time
import urllib.parse
from html import unescape

import numpy
import pytest
import scipy.stats
from serving import OWN, Server, create_study, ready_study, reply_to, same_person, small_study, survey_of, take_turns


@pytest.fixture
def server(melicit):
    running = Server(melicit.folder)
    yield running
    running.stop()


def test_own_session(server):
    """A session of one's own: questions, the result, more questions, the three downloads."""
    client = server.client()
    page = client.own(options={"max_questions": 4})
    assert page["kind"] == "question" and page["study"]["id"] is None and page["seq"] == 1
    while page["kind"] == "question":
        page = client.answer(page)
    assert page["kind"] == "result" and page["more"] is True
    assert page["result"]["questions"] == 4
    assert client.get("/api/result")[1]["result"] == page["result"]
    page = client.send(page, {"more": True})[1]["page"]
    assert page["kind"] == "question" and page["question"]["number"] == 5
    while page["kind"] == "question":
        page = client.answer(page)
    low, high = page["result"]["cost_ratio"]["low"], page["result"]["cost_ratio"]["high"]
    assert low <= 7 <= high and low > 2 and high < 30
    assert client.request("GET", "/api/result/metric")[0] == 200
    assert client.headers["Content-Disposition"] == 'attachment; filename="metric.json"'
    status, session = client.request("GET", "/api/result/session")
    header, *lines = map(json.loads, session.splitlines())
    assert header["format"] == "melicit-session" and len(lines) == page["result"]["questions"]
    assert client.request("GET", "/api/result/report")[1].startswith(b"<!DOCTYPE html>")
    assert client.get("/api/result/secret")[0] == 404


def test_progress_is_about_questions_and_survives_undo(server):
    """What is to come is foretold within a few questions, and is the same whenever the same question is on."""
    client = server.client()
    page = client.own(space={"data": "breast_cancer_original", "classes": ["healthy", "cancer"]}, options={"max_questions": 30, "until": "ratio"})
    told = []
    while page["kind"] == "question":
        told.append(page["progress"]["left"])
        assert page["progress"]["done"] == len(told) - 1
        before, page = page, client.answer(page)
        if len(told) == 5:
            again = client.post("/api/undo", {"seq": page["seq"], "key": "0123456789abcdef0123456789abcdef"})[1]["page"]
            assert again["question"] == before["question"] and again["progress"] == before["progress"]
            page = client.answer(again)
    assert page["kind"] == "result" and page["progress"]["left"] == 0
    assert page["progress"]["done"] == len(told) == page["result"]["questions"]
    ahead = [left - (len(told) - i) for i, left in enumerate(told)]
    assert max(map(abs, ahead)) <= 6, told


def test_answers_are_packed_where_that_is_safe(server):
    """JSON for whoever takes gzip; never for a request from another site, nor an answer with a cookie."""
    client = server.client()
    page = client.own(options={"max_questions": 4})
    while page["kind"] == "question":
        page = client.answer(page)

    def sent(path, **headers):
        link = http.client.HTTPConnection("127.0.0.1", server.port)
        link.request("GET", path, headers={"Cookie": "; ".join(f"{k}={v}" for k, v in client.cookies.items()), **headers})
        answer = link.getresponse()
        return answer.headers, answer.read()

    plain = sent("/api/result")
    assert plain[0]["Content-Encoding"] is None and len(plain[1]) > 5000
    packed = sent("/api/result", **{"Accept-Encoding": "deflate, gzip;q=0.8"})
    assert packed[0]["Content-Encoding"] == "gzip" and "Accept-Encoding" in packed[0]["Vary"]
    assert len(packed[1]) < len(plain[1]) / 2 and json.loads(gzip.decompress(packed[1])) == json.loads(plain[1])
    for headers in ({"Accept-Encoding": "gzip;q=0"}, {"Accept-Encoding": "br"}, {"Accept-Encoding": "xgzip"},
                    {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "cross-site"},
                    {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-site"}):
        assert sent("/api/result", **headers)[0]["Content-Encoding"] is None, headers
    small = sent("/api/nothing", **{"Accept-Encoding": "gzip"})
    assert small[0]["Content-Encoding"] is None


def test_downloaded_session_is_one_of_the_program(server, melicit):
    client = server.client()
    page = client.own(space={"data": "breast_cancer_original", "classes": ["healthy", "cancer"]},
                      options={"max_questions": 5})
    while page["kind"] == "question":
        page = client.answer(page)
    melicit.write("s.jsonl", client.request("GET", "/api/result/session")[1])
    assert melicit("report", "--session", "s.jsonl", "--json").done().json["answers"] == 5


def text_of(html):
    """What a reader of a page reads, blanks apart."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(style|svg).*?</\1>", " ", html, flags=re.S))).split())


def rounded(value):
    """Numbers to twelve digits: the server sends fifteen."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def shown_on_a_page(page):
    """Every sentence and number of an outcome that is on the page, the words of the metric aside: they are its headline."""
    found = [s["text"] for s in page["statements"] if s["key"] != "words"]
    found += [one["rule"] for one in page.get("effect", [])]
    found += [f"{one['name']} {one['percent']}%" for one in page.get("closest", [])]
    return found + [f"{one['symbol']} {one['value']:.4f} {one['low']:.4f} to {one['high']:.4f} {one['name']}".replace("-", "\u2212")
                    for one in page["weights"] if one["low"] is not None]


SPACES = [
    ("linear", {"data": "breast_cancer_original", "classes": ["healthy", "cancer"]}, {"max_questions": 12}),
    ("linear", {"data": "breast_cancer_original", "classes": ["healthy", "cancer"]}, {"max_questions": 2}),
    ("linear", {"population": "logistic:a=5,b=0", "classes": ["a", "b"]}, {"strategy": "search"}),
    ("linear-fractional", {"data": "breast_cancer_original", "classes": ["healthy", "cancer"]}, {"max_questions": 12}),
    ("diagonal-linear", {"population": "softmax:1,3,5", "classes": ["x", "y", "z"]}, {"max_questions": 5}),
    ("fair-linear", {"data": "german_credit", "group": "sex", "classes": ["paid", "defaulted"]}, {"max_questions": 4, "assume": "flip"}),
]


@pytest.mark.parametrize("degree", [3, 4, 5])
def test_degrees_that_the_start_page_offers(server, degree):
    client = server.client()
    space = {"data": "breast_cancer_original", "classes": ["healthy", "cancer"]}
    page = client.own(space=space, family=f"polynomial:{degree}", options={"max_questions": 1})
    found = client.send(page, {"answer": "A"})[1]["page"]["result"]["metric"]
    assert found["family"] == f"polynomial:{degree}"


@pytest.mark.parametrize("family, space, options", SPACES, ids=[f"{row[0]}-{i}" for i, row in enumerate(SPACES)])
def test_terminal_browser_and_report_agree(server, melicit, family, space, options):
    """One session has one outcome, whoever shows it: the same numbers and the same sentences."""
    client = server.client()
    page = client.own(space=space, options=options, family=family)
    while page["kind"] == "question":
        page = client.answer(page) if family == "linear" else client.send(page, {"answer": "A"})[1]["page"]
    browser = page["result"]
    mistakes = OWN["words"]["mistakes"]
    melicit.write("s.jsonl", client.request("GET", "/api/result/session")[1])
    words = ("elicit", "--session", "s.jsonl", "--oracle", "cmd:cat", "--call",
             f"missed={mistakes['missed']},false-alarm={mistakes['false_alarm']}")
    terminal = melicit(*words, "--report", "r.html", "--json").done().json
    served = {key: value for key, value in browser.items() if key not in ("agreement", "face", "python", "command", "example")}
    own = {key: value for key, value in terminal.items() if key not in ("status", "seconds", "warnings", "notes")}
    assert own.pop("people", "people") == "people" and served.pop("people", "patients") == "patients"  # --people counts heads
    for more in {"treatments", "best"} - set(own):  # the search for a best rule, which the terminal leaves to apply
        served.pop(more, None)
    assert rounded(own) == rounded(served)
    printed = " ".join(melicit(*words).done().out.split())
    report = text_of((melicit.folder / "r.html").read_text())
    downloaded = text_of(client.request("GET", "/api/result/report")[1].decode())
    for text in shown_on_a_page(terminal):
        assert text in report, text
    both = browser.get("treatments", {"rules": []})
    for rule in both["rules"]:  # several classes or groups: a row for each on both pages
        for share, low, high in (row[i] for group in rule["decided"] for i, row in enumerate(group)):
            text = f"{100 * share:.1f}%" + ("" if low is None else f" ({100 * low:.1f} to {100 * high:.1f}%)")
            assert text in report and text in downloaded, text
    assert ("What the best rule does" in downloaded) == ("What the best rule does" in report) == bool(both["rules"])
    assert bool(both["rules"]) == family.startswith(("diagonal", "fair"))
    for text in shown_on_a_page(browser):
        assert text in downloaded, text
    for one in terminal["statements"]:
        assert one["text"] in printed or one["about"] == "limits", one
    for one in terminal.get("effect", [])[:1]:
        assert f"{one['rule']}: {one['text']} of 1,000 people" in printed
    for near in terminal.get("closest", []):
        assert f"{near['name']} (orders {near['percent']}% of pairs alike)" in printed
        alike = f"{100 * near['agreement']:.1f}"
        assert near["percent"] == alike or alike == "100.0"  # which is said of all pairs only
    for weight in terminal["weights"]:
        assert weight["low"] is None or f"{weight['value']:.4f} {weight['low']:.4f} to {weight['high']:.4f}" in printed
    if "face" in browser:
        assert [terminal["best"]["tp"], terminal["best"]["tn"]] == terminal["effect"][0]["point"]
        assert rounded(browser["face"]["best"]) == rounded(terminal["effect"][0]["point"])


def test_whole_study(server, melicit):
    study = create_study(server)
    client = server.client()
    page = client.join(study)
    seen = []
    while page["kind"] != "done":
        seen.append(page["kind"])
        assert page["seq"] == len(seen) and page["study"]["id"] == study
        assert page["progress"]["done"] + page["progress"]["left"] > 0
        page = client.answer(page)
    assert seen == ["consent", "form", "guess"] + ["question"] * 9
    assert re.fullmatch("[A-Z2-9]{8}", page["code"])
    assert client.get("/api/page")[1]["page"]["code"] == page["code"]
    assert client.send(page, {})[0] == 400
    shown = melicit("study", "show", study, "--store", "t.db", "--json").done().json
    (person,) = shown["live"]
    assert person["state"] == "complete" and person["answers"] == 12 and person["agreement"]["of"] == 3
    assert person["median_seconds"] == 1.5 and len(person["times"]) == 6


def test_times_and_forms_of_all(server, melicit):
    """Whether close pairs took longer, and what the forms say, over people who are not simulated."""
    file = small_study()
    file["phases"][1]["fields"].append({"name": "job", "label": "Job", "type": "choice", "choices": ["nurse", "doctor", "none"]})
    study = create_study(server, file)
    melicit("study", "rehearse", study, "--store", "t.db", "--participants", 1).done()
    rng = numpy.random.default_rng(6)
    for said in ({"age": 31, "job": "nurse", "note": "What was said"}, {"age": 52, "job": "none"}, {"job": "nurse"}):
        client = server.client()
        page = client.join(study)
        while page["kind"] != "done":
            value = said if page["kind"] == "form" else reply_to(page)
            status, told = client.send(page, value, seconds=float(rng.integers(1, 60)))
            assert status == 200, told
            page = told["page"]
    shown = melicit("study", "show", study, "--store", "t.db", "--json").done().json
    people = [p for p in shown["live"] if not p["simulated"]]
    apart, times = numpy.array(sorted((d, t) for p in people for d, t in zip(p["apart"], p["times"], strict=True))).T
    assert len(times) == 18 == shown["times"]["answers"] and min(apart) > 0
    assert abs(shown["times"]["tau"] - scipy.stats.kendalltau(apart, times).statistic) < 1e-12
    assert [t["median_seconds"] for t in shown["times"]["thirds"]] == [numpy.median(times[i:i + 6]) for i in (0, 6, 12)]
    age, note, job = shown["forms"]
    assert (age["answers"], age["of"], age["low"], age["median"], age["high"]) == (2, 3, 31, 41.5, 52)
    assert note["answers"] == 1 and "What was said" not in json.dumps(shown)
    assert job["counts"] == {"nurse": 2, "doctor": 0, "none": 1}
    text = melicit("study", "show", study, "--store", "t.db").done().out
    assert "seconds per answer, median" in text and "nurse 2, none 1" in text and "31 to 52, median 41.5" in text


@pytest.mark.parametrize("name", ["cancer", "credit"])
def test_ready_studies(server, name):
    """The studies that come with the program can be made over HTTP and walked through."""
    study = create_study(server, ready_study(name))
    client = server.client()
    page = client.join(study)
    kinds = set()
    for _ in range(120):
        if page["kind"] == "done":
            break
        kinds.add(page["kind"])
        page = client.answer(page) if page["kind"] != "question" or name == "cancer" else \
            client.send(page, {"answer": "A"})[1]["page"]
    assert page["kind"] == "done" and {"consent", "form", "text", "training", "question"} <= kinds


def test_refusing_consent(server):
    study = create_study(server)
    client = server.client()
    page = client.send(client.join(study), {"agreed": False})[1]["page"]
    assert page["kind"] == "bye"
    assert client.get("/api/page")[1]["page"]["kind"] == "bye"


def test_undo_keeps_both(server, melicit):
    client = server.client()
    first = client.own()
    second = client.answer(first)
    status, told = client.post("/api/undo", {"seq": second["seq"], "key": "undo-key-1"})
    assert status == 200 and told["saved"] == 2
    again = told["page"]
    assert again["question"] == first["question"] and again["seq"] == 3
    status, told = client.post("/api/undo", {"seq": 3, "key": "undo-key-2"})
    assert status == 400 and "take back" in told["error"]["message"]


def test_resume_reload_and_labels(server):
    """A cookie or a label's link leads back to the own page; a label alone, or a wrong link, does not."""
    study = create_study(server)
    links = server.researcher().post(f"/api/admin/studies/{study}/links", {"labels": ["p 01", "p02"]})[1]["links"]
    query = urllib.parse.parse_qs(urllib.parse.urlparse(links[0]["url"]).query)
    label, link = query["label"][0], query["link"][0]
    assert label == "p 01" and links[0]["label"] == label
    client = server.client()
    page = client.answer(client.join(study, label=label, link=link))
    assert client.get("/api/page")[1]["page"] == page
    assert client.join(study, label=label, link=link)["seq"] == page["seq"]
    other = server.client()
    back = other.join(study, label=label, link=link)  # another browser, the same link
    assert back["seq"] == page["seq"] and back["kind"] == page["kind"]
    status, told = server.client().post("/api/join", {"study": study, "label": label})
    assert status == 409 and told["error"]["code"] == "taken"
    status, told = server.client().post("/api/join", {"study": study, "label": label, "link": link[::-1]})
    assert status == 403
    assert client.get("/api/page")[0] == 403  # the old cookie ended when the other browser came


@pytest.mark.parametrize("policy, status", [("resume", 200), ("restart", 200), ("block", 409)])
def test_resume_policies(server, policy, status):
    study = create_study(server, small_study(resume=policy))
    client = server.client()
    page = client.answer(client.join(study))
    got, told = client.post("/api/join", {"study": study})
    assert got == status
    if status == 200:
        assert told["page"]["seq"] == (page["seq"] if policy == "resume" else 1)


@pytest.mark.parametrize("policy", ["resume", "restart", "block"])
def test_who_has_sent_nothing_may_come_again(server, policy):
    """The answer to the first request may be lost: asking again is no second participation."""
    study = create_study(server, small_study(resume=policy))
    client = server.client()
    client.join(study)
    assert client.join(study)["seq"] == 1
    status, told = server.researcher().get(f"/api/admin/studies/{study}")
    assert status == 200 and len(told["live"]) == 1


def test_quota_counts_people(server):
    """Simulated participants do not fill a study, and starting anew does not get around its quota."""
    study = create_study(server, small_study(quota=1, resume="restart"))
    researcher = server.researcher()
    assert researcher.post(f"/api/admin/studies/{study}/rehearse", {"participants": 2, "metric": 7})[0] == 200
    client = server.client()
    assert client.walk(client.join(study))["kind"] == "done"
    for who in (client, server.client()):
        status, told = who.post("/api/join", {"study": study})
        assert status == 409 and told["error"]["code"] == "full"


def test_prolific_ids_open_no_labels(server):
    """A label's session is its link owner's: the label given as Prolific's id does not open it."""
    study = create_study(server)
    url = server.researcher().post(f"/api/admin/studies/{study}/links", {"labels": ["p01"]})[1]["links"][0]["url"]
    link = urllib.parse.parse_qs(urllib.parse.urlparse(url).query)["link"][0]
    owner = server.client()
    page = owner.answer(owner.join(study, label="p01", link=link))
    status, told = server.client().post("/api/join", {"study": study, "prolific": {"PROLIFIC_PID": "p01"}})
    assert status == 409 and told["error"]["code"] == "taken"
    assert owner.get("/api/page")[1]["page"] == page
    assert server.researcher().post("/api/admin/studies/nothing/links", {"labels": ["p01"]})[0] == 404


def test_stopping_under_load(server):
    """Requests that come while the server stops are answered or cut off; it ends in order."""
    def ask(_):
        client = server.client()
        try:
            while True:
                assert client.get("/api/datasets")[0] in (200, 503)
        except (OSError, http.client.HTTPException):
            pass

    for _ in range(5):
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(12)]
        for t in threads:
            t.start()
        time.sleep(0.1)
        server.stop()  # wants status 0 and nothing on stderr
        for t in threads:
            t.join()
        server.start()


def test_data_that_are_gone(server, melicit):
    """A study whose data cannot be read any more: later, not the answer's fault; what is stored can be had."""
    table = melicit.folder / "own.csv"
    table.write_text(UPLOAD)
    file = small_study(space={"data": str(table), "label": "label", "classes": ["well", "sick"], "skip": ["colour"]})
    (melicit.folder / "own.json").write_text(json.dumps(file))
    made = melicit("study", "create", "own.json", "--store", "t.db", "--json").done()
    study = json.loads(made.out)["id"]
    client = server.client()
    page = client.answer(client.join(study))
    server.stop()
    table.unlink()
    server.start()
    client.port, client.connection = server.port, None
    status, told = client.send(page, reply_to(page))
    assert status == 503 and told["error"]["code"] in ("unavailable", "storage")
    researcher = server.researcher()
    assert researcher.post(f"/api/admin/studies/{study}/state", {"state": "closed"})[0] == 200
    status, text = researcher.request("GET", f"/api/admin/studies/{study}/export.jsonl")
    assert status == 200 and text.count(b"\n") == 1


def test_closed_and_full_studies(server):
    study = create_study(server, small_study(quota=1))
    researcher = server.researcher()
    client = server.client()
    client.walk(client.join(study))
    status, told = server.client().post("/api/join", {"study": study})
    assert status == 409 and told["error"]["code"] == "full"
    other = create_study(server)
    inside = server.client()
    page = inside.join(other)
    assert researcher.post(f"/api/admin/studies/{other}/state", {"state": "closed"})[0] == 200
    status, told = server.client().post("/api/join", {"study": other})
    assert status == 409 and told["error"]["code"] == "closed"
    assert inside.walk(page)["kind"] == "done"  # who is in may finish
    assert researcher.post(f"/api/admin/studies/{other}/state", {"state": "ajar"})[0] == 400
    assert server.client().post("/api/join", {"study": "nothing"})[0] == 404
    assert server.client().post("/api/join", {"study": "alone"})[0] == 404


def test_prolific_parameters(server):
    study = create_study(server, small_study(prolific={"completion_url": "https://example.org/done"}))
    who = {"PROLIFIC_PID": "5f2", "STUDY_ID": "s", "SESSION_ID": "t"}
    client = server.client()
    page = client.answer(client.join(study, prolific=who))
    status, told = server.client().post("/api/join", {"study": study, "prolific": who})  # an id that others may know
    assert status == 409 and told["error"]["code"] == "taken"
    assert server.client().join(study, prolific=who, resume=page["resume"])["seq"] == page["seq"]
    status, text = server.researcher().request("GET", f"/api/admin/studies/{study}/export.csv")
    assert "5f2" in text.decode()
    other = server.client()
    assert other.walk(other.join(study))["redirect"] == "https://example.org/done"


UPLOAD = "age,colour,label\n" + "".join(
    f"{20 + i % 50},{'rgb'[i % 3]},{'sick' if (i % 50 > 25) ^ (i % 9 == 0) else 'well'}\n" for i in range(300))


def test_uploads(server):
    client = server.client()
    status, told = client.json("POST", "/api/upload", UPLOAD, {"Content-Type": "text/csv"})
    assert status == 200 and told["rows"] == 300
    assert [c["kind"] for c in told["columns"]] == ["number", "text", "text"]
    assert told["columns"][0]["values"] == [] and sorted(told["columns"][2]["values"]) == ["sick", "well"]
    assert dict(zip(told["columns"][2]["values"], told["columns"][2]["counts"])) == {
        word: UPLOAD.count(f",{word}\n") for word in ("well", "sick")}
    assert told["head"][0] == [20, "r", "sick"] and len(told["head"]) == 5 and told["columns"][1]["missing"] == 0
    page = client.own(space={"data": f"upload:{told['upload']}", "label": "label", "positive": "sick",
                             "rename": {"well": "healthy, really", "sick": "ill"}})
    assert [c["name"] for c in page["question"]["classes"]] == ["healthy, really", "ill"]
    status, told = client.json("POST", "/api/upload", "a,b\n1,2\n3\n", {"Content-Type": "text/csv"})
    assert status == 400 and "row 3" in told["error"]["message"]


def test_columns_that_cannot_be_features_are_left_out_and_told(server):
    """As the command line does: a count of the rows, dates, a copy of the label, ids."""
    rng = numpy.random.default_rng(8)
    y, x = rng.random(200) < 0.4, rng.normal(size=200).round(3)
    x[y] += 1
    told = [f"{i},2024-{i % 12 + 1:02}-{i % 28 + 1:02} 10:{i % 60:02},{'JN'[int(v)]},c{i}k,{z},{'sick' if v else 'well'}\n"
            for i, (v, z) in enumerate(zip(y, x))]
    client, seen = server.client(), []
    for head, rows in ("n,when,same,who,x,y\n", told), ("x,y\n", [",".join(row.split(",")[4:]) for row in told]):
        upload = client.json("POST", "/api/upload", head + "".join(rows), {"Content-Type": "text/csv"})[1]["upload"]
        status, found = client.post("/api/check", {**OWN, "space": {"data": f"upload:{upload}", "label": "y", "positive": "sick"}})
        assert status == 200, found
        seen.append(found)
    left_out = seen[0].pop("warnings")
    for words in ("column n counts the rows", "column when looks like dates", "column same is a copy of the label",
                  "column who looks like names or ids"):
        assert sum(words in text and "left out" in text for text in left_out) == 1, left_out
    assert seen[1].pop("warnings") == [] and seen[0] == seen[1]


def test_how_good_a_model_is_before_a_session_starts(server):
    """Probabilities beside other columns, written as a spreadsheet does; AUC and the threshold recomputed here."""
    rng = numpy.random.default_rng(5)
    y = rng.random(400) < 0.3
    p = numpy.clip(numpy.where(y, 0.6, 0.35) + 0.2 * rng.standard_normal(400), 0, 1).round(2)
    text = "Fall;W'keit;Wahrheit;Ort\n" + "".join(
        f"{i};{str(v).replace('.', ',')};{'krank' if t else 'gesund'};{'ab'[i % 2]}\n" for i, (v, t) in enumerate(zip(p, y)))
    client = server.client()
    told = client.json("POST", "/api/upload", text.encode("latin-1"), {"Content-Type": "text/csv"})[1]
    whole = f"upload:{told['upload']}"
    chosen = {"upload": told["upload"], "columns": [{"name": "krank", "from": "W'keit"}]}
    status, probs = client.post("/api/columns", chosen)
    assert status == 200 and [c["name"] for c in probs["columns"]] == ["krank"] and probs["rows"] == 400, probs
    body = {**OWN, "space": {"probs": f"upload:{probs['upload']}", "probs_columns": "krank", "labels": whole,
                             "label": "Wahrheit", "positive": "krank"}}
    status, found = client.post("/api/check", body)
    assert status == 200 and found["rows"] == 400, found
    assert {c["name"]: c["rows"] for c in found["classes"]} == {"gesund": int((~y).sum()), "krank": int(y.sum())}
    wins = (p[y][:, None] > p[~y]) + 0.5 * (p[y][:, None] == p[~y])
    assert abs(found["auc"] - wins.mean()) < 1e-12
    best = max((p[y] >= t).mean() for t in numpy.unique(p) if (p[~y] >= t).mean() <= 0.1)
    assert abs(found["found"] - best) < 1e-12 and found["alarms"] <= 0.1
    fair = {**body["space"], "groups": whole, "group": "Ort"}
    assert client.post("/api/check", {**body, "space": fair, "family": "fair-linear"})[0] == 200
    # Every family that the start page offers for three classes, also in groups: each product of a polynomial is one number to be found.
    known = {family["name"] for family in client.get("/api/datasets")[1]["families"]}
    assert {"linear", "monotone", "polynomial:3"} <= known and len(known) == 9
    three = "".join(f"{i % 3 + numpy.sin(i):.3f},{'abc'[i % 3]},{'uv'[i % 2]}\n" for i in range(240))
    space = {"data": "upload:" + client.json("POST", "/api/upload", "x,kind,sex\n" + three, {"Content-Type": "text/csv"})[1]["upload"], "label": "kind"}
    for family in ("quadratic", "polynomial:3"):
        assert client.post("/api/check", {"space": {**space, "skip": ["sex"]}, "family": family})[0] == 200
    for family in ("fair-linear", "fair-quadratic"):
        status, told = client.post("/api/check", {"space": {**space, "group": "sex"}, "family": family})
        assert status == 200, told
    # A check starts nothing, and refuses what a start refuses.
    assert client.json("GET", "/api/page")[0] == 403
    status, told = client.post("/api/check", {**body, "space": {**fair, "group": "Fall"}, "family": "fair-linear"})
    assert status in (400, 413), told
    assert client.post("/api/check", {**OWN, "space": {"data": "/etc/passwd"}})[0] == 400
    for columns, names in [([], "columns"), ([{"name": "a", "from": "nothing"}], "nothing"),
                           ([{"name": "a", "from": "Ort"}], "numbers"), ([{"from": "Fall"}], "columns")]:
        status, told = client.post("/api/columns", {**chosen, "columns": columns})
        assert status == 400 and names in told["error"]["message"], told
    assert client.post("/api/columns", {**chosen, "upload": "nothing"})[0] == 400
    assert client.own(**body)["kind"] == "question"


@pytest.mark.parametrize("space, names", [
    ({"data": "/etc/passwd"}, "space"),
    ({"data": "../../etc/passwd"}, "space"),
    ({"table": "x.csv"}, "space"),
    ({"probs": "p.csv", "labels": "l.csv"}, "space"),
    ({"ball": "2,2", "radius": 0.1, "prevalence": "/etc/passwd"}, "space"),
    ({"data": "upload:nothing"}, "upload"),
    ({"population": "logistic:a=x"}, "population"),
    ({"population": "logistic:a=5,b=0", "classes": ["a"]}, "classes"),
    ({"population": "logistic:a=5,b=0", "weights": "w"}, "weights"),
    ({"population": "logistic:a=5,b=0", "rename": {"maybe": "a"}}, "maybe"),
    ({"data": "breast_cancer_original", "rename": {"0": "a", "1": "a"}}, "twice"),
    ({"population": "logistic:a=5,b=0", "classes": ["a", "a"]}, "classes"),
    ({"population": "logistic:a=5,b=0", "colour": 1}, "colour"),
    ({}, "what is it about"),
])
def test_spaces_that_are_refused(server, space, names):
    status, told = server.client().post("/api/start", {**OWN, "space": space})
    assert status == 400 and names in told["error"]["message"], told
    assert "/tmp" not in told["error"]["message"]


def test_several_classes_and_groups(server):
    client = server.client()
    page = client.own(space={"population": "softmax:1,3,5", "classes": ["a", "b", "c"]}, family="diagonal-linear",
                      options={"max_questions": 4})
    while page["kind"] == "question":
        assert len(page["question"]["a"]) == 3
        page = client.send(page, {"answer": "A"})[1]["page"]
    assert page["kind"] == "result" and len(page["result"]["weights"]) == 3
    page = server.client().own(space={"ball": "2,2", "radius": 0.2}, family="fair-linear",
                               options={"max_questions": 4})
    assert len(page["question"]["groups"]) == 2 and len(page["question"]["a"]) == 2
    for strategy in ({"strategy": "search"}, {}):  # as the wizard starts it, and by itself
        page = server.client().own(space={"population": "softmax:1,3,5", "classes": ["a", "b", "c"]}, family="monotone",
                                   options={"max_questions": 4, **strategy})
        assert page["kind"] == "question" and len(page["question"]["a"]) == 3


def test_monitor_export_and_delete(server, melicit):
    study = create_study(server)
    researcher = server.researcher()
    clients = [server.client() for _ in range(3)]
    pages = [c.join(study) for c in clients]
    clients[0].walk(pages[0])
    clients[1].answer(pages[1])
    clients[2].send(pages[2], {"agreed": False})
    status, told = researcher.get(f"/api/admin/studies/{study}")
    assert status == 200 and [p["state"] for p in told["live"]] == ["complete", "active", "left"]
    assert told["live"][1]["page"] == "form" and told["file"]["title"] == "A test"
    here = {p["name"]: (p["here"], p["left"]) for p in told["pages"]}
    assert here["consent"] == (0, 1) and here["form"] == (1, 0) and here["done"] == (1, 0)
    rows = list(csv.DictReader(io.StringIO(researcher.request("GET", f"/api/admin/studies/{study}/export.csv")[1].decode())))
    assert len(rows) == 12 + 1 + 1 and {r["trial_type"] for r in rows} == {"consent", "form", "guess", "question"}
    assert all(r["rt"] == "1500" for r in rows)
    lines = researcher.request("GET", f"/api/admin/studies/{study}/export.jsonl")[1].splitlines()
    assert len(lines) == 14 and json.loads(lines[0])["participant"] == told["live"][0]["id"]
    copy = melicit.write("copy.db", researcher.request("GET", f"/api/admin/studies/{study}/export.sqlite")[1])
    with sqlite3.connect(copy) as db:
        assert db.execute("SELECT count(*) FROM event").fetchone() == (14,)
        assert db.execute("SELECT count(*) FROM participant WHERE token IS NOT NULL").fetchone() == (0,)
    gone = told["live"][0]["id"]
    assert researcher.json("DELETE", f"/api/admin/studies/{study}/participants/{gone}")[0] == 200
    assert researcher.json("DELETE", f"/api/admin/studies/{study}/participants/{gone}")[0] == 404
    assert clients[0].get("/api/page")[0] == 403
    assert len(researcher.get(f"/api/admin/studies/{study}")[1]["live"]) == 2
    assert gone.encode() not in researcher.request("GET", f"/api/admin/studies/{study}/export.csv")[1]
    for path in ("export.exe", "export", "state"):
        assert researcher.request("GET", f"/api/admin/studies/{study}/{path}")[0] in (404, 405)


def test_preview_archive_delete_and_one_participant(server):
    researcher = server.researcher()
    status, told = researcher.post("/api/admin/preview", small_study())
    assert status == 200 and [p["kind"] for p in told["pages"]] == ["consent", "form", "guess", "question", "question",
                                                                    "done"], told
    assert researcher.get("/api/admin/studies")[1]["studies"] == []  # nothing was made
    status, told = researcher.post("/api/admin/preview", small_study(quota=-1))
    assert status == 400 and "quota" in told["error"]["message"]
    assert researcher.post("/api/admin/preview", {**small_study(), "space": {"data": "/etc/passwd"}})[0] == 400
    assert server.client().post("/api/admin/preview", small_study())[0] == 403
    study = create_study(server)
    client = server.client()
    client.walk(client.join(study, label="p1"))
    assert researcher.post(f"/api/admin/studies/{study}/rehearse", {"participants": 3, "metric": 7})[0] == 200
    assert researcher.get("/api/admin/studies")[1]["studies"][0]["participants"] == {
        "active": 0, "complete": 1, "left": 0, "simulated": 3}
    told = researcher.get(f"/api/admin/studies/{study}")[1]
    assert sum(p["here"] for p in told["pages"]) == 1 and [p.get("truth") for p in told["live"]] == [None, 7, 7, 7]
    one = told["live"][0]
    path = f"/api/admin/studies/{study}/participants/"
    status, found = researcher.get(path + one["id"])
    assert status == 200 and found["person"] == one and len(found["events"]) == one["answers"], found
    answers = [e for e in found["events"] if e["page"] == "question"]
    assert all(e["value"]["answer"] in "AB=" and len(e["a"]) == 2 for e in answers) and len(answers) == 9
    assert server.client().get(path + one["id"])[0] == 403 and researcher.get(path + "nobody")[0] == 404
    for state in ("archived", "closed", "archived", "open", "archived"):
        assert researcher.post(f"/api/admin/studies/{study}/state", {"state": state})[0] == 200
        assert researcher.get("/api/admin/studies")[1]["studies"][0]["state"] == state
        assert researcher.get(f"/api/admin/studies/{study}")[1]["state"] == state
    assert server.client().post("/api/join", {"study": study})[0] == 409
    assert server.client().json("DELETE", f"/api/admin/studies/{study}", {})[0] == 403
    assert researcher.json("DELETE", f"/api/admin/studies/{study}", {})[0] == 200
    assert researcher.get(f"/api/admin/studies/{study}")[0] == 404 and client.get(f"/api/page?study={study}")[0] == 403


def test_rehearsal_over_http(server):
    study = create_study(server)
    researcher = server.researcher()
    assert researcher.post(f"/api/admin/studies/{study}/rehearse", {"participants": 2, "metric": 7})[0] == 200
    told = survey_of(researcher, study)
    assert [p["simulated"] for p in told["live"]] == [True, True] and told["pooled"]["participants"] == 2
    client = server.client()
    client.walk(client.join(study))
    other = server.client()
    other.walk(other.join(study))
    pooled = survey_of(researcher, study)["pooled"]
    assert pooled["participants"] == 2  # real ones push simulated ones out
    assert researcher.post(f"/api/admin/studies/{study}/rehearse", {"participants": 0})[0] == 400
    metric = {"format": "melicit-metric", "version": 1, "family": "linear", "coefficients": {"a": [0.2, 0.98]},
              "layout": {"kind": "confusion", "coordinates": "binary", "classes": ["cancer", "healthy"]}}
    fresh = create_study(server)
    assert researcher.post(f"/api/admin/studies/{fresh}/rehearse", {"participants": 2, "metric": metric})[0] == 200
    ratio = survey_of(researcher, fresh)["pooled"]["cost_ratio"]["value"]
    assert ratio > 1.5  # right about cancer counts 0.98, about healthy 0.2, whatever their order in the metric
    metric["layout"]["classes"] = ["well", "ill"]
    status, told = researcher.post(f"/api/admin/studies/{fresh}/rehearse", {"participants": 2, "metric": metric})
    assert status == 400 and '"healthy"' in told["error"]["message"]
    metric["layout"]["classes"] = ["1.0", "0.0"]  # numbers are the same by their value
    numbered = create_study(server, small_study(space={**OWN["space"], "classes": ["0", "1"]}))
    assert researcher.post(f"/api/admin/studies/{numbered}/rehearse", {"participants": 2, "metric": metric})[0] == 200
    assert survey_of(researcher, numbered)["pooled"]["cost_ratio"]["value"] > 1.5
    assert researcher.post("/api/admin/studies/nothing/rehearse", {"participants": 1})[0] == 404


def test_plan(server, melicit):
    """Widths shrink with questions and people, noise costs questions, and nothing is stored."""
    study = create_study(server, small_study(questions=12))
    researcher = server.researcher()
    path = f"/api/admin/studies/{study}/plan"
    status, plan = researcher.post(path, {"participants": 8, "metric": 7, "spread": 0.3, "width": 3})
    assert status == 200, plan
    widths = [row["width"] or math.inf for row in plan["by_questions"]]
    assert len(widths) == 12 and widths[-1] < 1.5 < widths[1] and plan["measure"] == "factor"
    assert widths[plan["questions"] - 1] <= 3 and all(w > 3 for w in widths[:plan["questions"] - 1])
    assert [row["people"] for row in plan["by_people"]] == [2, 4, 8] and plan["by_people"][-1]["width"] < 3
    assert 8 <= plan["asked"] <= 96 and plan["dominated"] == plan["trivial"] == 0
    assert researcher.get(f"/api/admin/studies/{study}")[1]["live"] == []
    for body, part in (({"participants": 1}, "participants"), ({"width": 0}, "width"), ({"spread": 1}, "spread")):
        status, told = researcher.post(path, body)
        assert status == 400 and part in told["error"]["message"], told
    assert server.client().post(path, {})[0] == 403
    assert researcher.post("/api/admin/studies/nothing/plan", {})[0] == 404
    said = melicit("study", "plan", study, "--store", "t.db", "--participants", 4, "--metric", 7, "--noise", "flip:0.3",
                   "--plan", "width=1.0001", "--seed", 1).done().out
    assert "do not give half of the people a width of 1" in said and "more people than these" in said


@pytest.mark.plain("a plan is refused by resident memory, of which sanitizers take more")
def test_plan_says_which_questions_tell_nothing(server):
    """Far more questions than it takes: what people will answer is known. Errors need no metric but where there are groups."""
    researcher = server.researcher()
    more = {"elicitation": {"family": "linear", "tolerance": 0.001, "max_questions": 40, "assume": "person", "repeat_every": 0}}

    def plan(study, **body):
        address, asked = f"/api/admin/studies/{create_study(server, study)}/plan", {"participants": 3, **body}
        for _ in range(600):  # busy, where other work keeps the processor
            status, told = researcher.post(address, asked)
            if status != 503:
                break
            time.sleep(0.5)
        return status, told

    status, found = plan(small_study(**more), metric=7, noise="flip:0.05")
    idle = [row["idle"] for row in found["by_questions"]]
    assert status == 200 and sum(idle) == found["trivial"] + found["dominated"] and found["trivial"] > 0
    assert sum(idle[20:]) > sum(idle[:20])
    pages = [{"kind": "elicitation"}, {"kind": "done", "title": "Thanks"}]
    three = small_study(questions=8, space={"population": "softmax:1,3,5", "classes": ["a", "b", "c"]}, phases=pages)
    careful, careless = (plan(three, noise=noise) for noise in ("none", "flip:0.4"))
    assert careful[0] == careless[0] == 200 and careful[1]["dominated"] == careless[1]["dominated"] == 0
    assert careful[1]["by_questions"] != careless[1]["by_questions"]
    groups = small_study(questions=3, space={"data": "german_credit", "group": "sex"}, phases=pages)
    groups["elicitation"]["family"] = "fair-linear"
    assert plan(groups, participants=2, width=0.5)[0] == 200
    status, told = plan(groups, participants=2, noise="flip:0.1")
    assert status == 400 and "noise: where there are groups" in told["error"]["message"]


def test_new_participants_start_from_what_others_want(server, melicit):
    means = {"missed": "The cancer is found late.", "false_alarm": "A biopsy for nothing."}
    study = create_study(server, small_study(learn_from_others=True, words={**OWN["words"], "consequences": means}))
    researcher = server.researcher()
    assert researcher.post(f"/api/admin/studies/{study}/rehearse", {"participants": 10, "metric": 7})[0] == 200
    pooled = survey_of(researcher, study)["pooled"]
    found, ratio = pooled["community"], pooled["cost_ratio"]
    assert found["people"] == 10 and 1 < found["factor"]["value"] < 2 and found["prior"]["strength"] > 10
    assert 4 < ratio["value"] < 12 and ratio["low"] <= ratio["value"] <= ratio["high"]
    assert "the people whom these 10 stand for" in melicit("study", "show", study, "--store", "t.db").done().out
    path = f"/api/admin/studies/{study}/participants/"
    first = researcher.get(f"/api/admin/studies/{study}")[1]["live"][0]
    assert "prior" not in researcher.get(path + first["id"])[1]["about"]  # there was nobody to learn from
    client = server.client()
    page = client.join(study, label="p1")
    while page["kind"] != "question":
        page = client.answer(page)
    assert page["words"]["consequences"] == means
    client.walk(page)
    last = researcher.get(f"/api/admin/studies/{study}")[1]["live"][-1]
    about = researcher.get(path + last["id"])[1]["about"]
    assert about["prior"]["people"] == 10 and about["prior"]["metric"]["family"] == "linear"
    server.kill()  # a new process asks the same questions
    server.start()
    assert server.researcher().get(path + last["id"])[1]["person"] == last


@pytest.mark.parametrize("change, names", [
    ({"learn_from_others": True, "elicitation": {"family": "linear-fractional"}}, "learn_from_others"),
    ({"words": {"consequences": {"typo": ""}}}, "words.consequences.typo"),
    ({"words": {"consequences": {"alarmed": "one is refused"}}}, "words.consequences.alarmed_plural"),
    ({"words": {"consequences": {"found_plural": "cancers"}}}, "words.consequences.found:"),
    ({"phases": []}, "phases"),
    ({"colour": 1}, "colour"),
    ({"space": {"data": "/etc/passwd"}}, "space"),
    ({"space": {"population": "logistic:a=5,b=0", "typo": 1}}, "typo"),
    ({"elicitation": {"family": "monotone"}}, ""),
])
def test_studies_that_are_refused(server, change, names):
    researcher = server.researcher()
    status, told = researcher.post("/api/admin/studies", {**small_study(), **change})
    assert status == 400 and names in told["error"]["message"], told
    assert researcher.get("/api/admin/studies")[1]["studies"] == []


def test_study_on_the_command_line(melicit):
    """Everything that needs no browser, on a store without a server."""
    store = ("--store", "s.db")
    melicit.write("study.json", json.dumps(small_study()))
    assert melicit("study", "check", "study.json", *store, "--json").done().json["phases"] == 6
    assert "no studies" in melicit("study", "list", *store).done().out
    study = melicit("study", "create", "study.json", *store, "--json").done().json["id"]
    assert study in melicit("study", "list", *store).done().out
    assert melicit("study", "rehearse", study, *store, "--participants", "2", "--metric", "7", "--json").done().json == \
        {"participants": 2}
    told = melicit("study", "show", study, *store, "--json").done().json
    assert len(told["live"]) == 2 and all(p["state"] == "complete" for p in told["live"])
    assert "(simulated)" in melicit("study", "show", study, *store).done().out
    assert len(melicit("study", "export", study, *store).done().out.splitlines()) == 1 + 2 * 12
    melicit("study", "export", study, *store, "--as", "sqlite", "--out", "c.db").done()
    assert melicit("study", "show", study, "--store", "c.db", "--json").done().json["live"] == told["live"]
    melicit("study", "close", study, *store).done()
    assert melicit("study", "list", *store, "--json").done().json["studies"][0]["state"] == "closed"
    melicit("study", "delete", study, told["live"][0]["id"], *store).done()
    assert len(melicit("study", "show", study, *store, "--json").done().json["live"]) == 1
    links = melicit("study", "links", study, *store, "a", "b", "--json").done().json["links"]
    assert [x["label"] for x in links] == ["a", "b"] and "link=" in links[0]["url"]
    assert links[0]["url"].startswith(f"http://127.0.0.1:8080/s/{study}?")  # of a server without options
    for words, url in (((), "http://127.0.0.1:"), (("--public-url", "https://study.example.org"), "https://study.example.org")):
        seen = melicit("serve", *store, "--port", 0, *words, "--limits", "stop-after=0.1", "--json").done().json["url"]
        assert seen.startswith(url)
        assert melicit("study", "links", study, *store).done().out == f"{seen}/s/{study}\n"
    assert melicit("study", "links", study, *store, "--public-url", "http://else").done().out == f"http://else/s/{study}\n"
    melicit("study", "rehearse", study, "--store", "s2.db").refused(2)
    answers = []
    for name in ("x.db", "y.db"):  # the same seed, the same participants
        made = melicit("study", "create", "study.json", "--store", name, "--json").done().json["id"]
        melicit("study", "rehearse", made, "--store", name, "--participants", "3", "--metric", "7", "--noise", "flip:0.3",
                "--seed", "5").done()
        lines = melicit("study", "export", made, "--store", name, "--as", "jsonl").done().out.splitlines()
        answers.append([json.loads(line)["value"] for line in lines])
    assert answers[0] == answers[1] and answers[0][:12] != answers[0][12:24]
    first, second = (melicit("study", "token", *store).done().out for _ in range(2))
    assert first != second and len(first.strip()) == 43


@pytest.mark.parametrize("words, parts", [
    ((), ["create", "export"]),
    (("crate",), ["did you mean"]),
    (("show",), ["which study"]),
    (("create",), ["which file"]),
    (("delete", "x"), ["which participant"]),
    (("list", "x"), ["x"]),
    (("show", "nothing"), ["nothing"]),
    (("rehearse", "nothing"), ["nothing"]),
])
def test_study_usage(melicit, words, parts):
    melicit("study", *words, "--store", "s.db").refused(2, *parts)


def test_study_files_that_are_refused(melicit):
    melicit.write("bad.json", "{\n  \"format\": \"melicit-study\",\n}")
    melicit("study", "check", "bad.json", "--store", "s.db").refused(3, "bad.json", "line 3")
    melicit("study", "check", "none.json", "--store", "s.db").refused(3, "none.json")
    melicit("study", "check", "nothing", "--store", "s.db").refused(3, "nothing")
    melicit.write("other.db", b"this is no database, but long enough to look at" * 20)
    melicit("study", "list", "--store", "other.db").refused(3, "other.db")


def test_serve_says_where_it_cannot_listen(server, melicit):
    melicit("serve", "--port", str(server.port), "--store", "u.db").refused(4, str(server.port))
    melicit("serve", "--listen", "example.org", "--port", "0", "--store", "u.db").refused(2, "example.org")
    melicit("serve", "--public-url", "ftp://x", "--port", "0", "--store", "u.db").refused(2, "ftp://x")


def test_two_servers_share_a_store(server, melicit):
    """One person, two processes: each sees what the other has stored."""
    second = Server(melicit.folder)
    assert second.process.pid != server.process.pid
    study = create_study(server)
    client = server.client()
    page = client.join(study)
    other = same_person(client, second.port)
    page = take_turns(page, 12, (client, other))
    assert page["kind"] == "done"
    second.stop()
