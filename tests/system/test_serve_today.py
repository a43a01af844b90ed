"""Results of more classes and of groups: what the best rule does with everybody, next to what is done today, recomputed from the rows."""
import csv
import io
import re

import numpy
import pytest
from serving import Server

VEHICLES = {"data": "vehicle", "rename": {"0": "bus", "1": "Opel", "2": "Saab", "3": "van"}}
LOANS = {"data": "german_credit", "group": "sex", "positive": "1", "rename": {"0": "repays", "1": "defaults"}}
CSV = {"Content-Type": "text/csv", "X-Melicit-CSRF": "first"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("today"))
    yield running
    running.stop()


def mistakes(side):
    matrices = side if isinstance(side[0][0], list) else [side]
    return sum((1 + i) * ((n or 0) if i != j else -(n or 0)) for m in matrices for i, row in enumerate(m) for j, n in enumerate(row))


def answered(client, space, family):
    page = client.own(space=space, family=family, options={"max_questions": 4, "announce_repeats": True})
    while page["kind"] == "question":
        a, b = mistakes(page["question"]["a"]), mistakes(page["question"]["b"])
        page = client.send(page, {"answer": "=" if a == b else "A" if a < b else "B"})[1]["page"]
    assert page["kind"] == "result"
    return page


def decisions(client, page, **body):
    """Of the rows that did not train the model."""
    status, told = client.post("/api/decisions", body, **{"X-Melicit-CSRF": page["csrf"]})
    assert status == 200, told
    return [row for row in csv.DictReader(io.StringIO(told["csv"])) if row.pop("used to", "measure") == "measure"]


@pytest.mark.parametrize("family", ["diagonal-linear", "linear"])
def test_what_the_best_rule_does_with_each_class(server, family):
    client = server.client()
    page = answered(client, VEHICLES, family)
    result, names = page["result"], ["bus", "Opel", "Saab", "van"]
    rows = decisions(client, page)
    best, probable = result["treatments"]["rules"]
    decided = {"decision": best, "probable": probable}
    for row in rows:
        row["probable"] = max(names, key=lambda name: float(row[f"probability of {name}"]))
    for column, rule in decided.items():
        for i, truth in enumerate(names):
            of = [row for row in rows if row["truth"] == truth]
            assert result["treatments"]["share"][0][i] == pytest.approx(len(of) / len(rows))
            for j, said in enumerate(names):
                told = rule["decided"][0][i][j]
                if i == j or family == "linear":
                    share = sum(row[column] == said for row in of) / len(of)
                    assert told[0] == pytest.approx(share) and told[1] <= share <= told[2]
                else:
                    assert told is None
    assert all(" more " in call["text"] or " fewer " in call["text"] for call in result["close_calls"])
    # The closest calls come once more, and are part of the session.
    again = page["again"]
    page = client.send(page, {"again": True})[1]["page"]
    for _ in range(again):
        page = client.send(page, {"answer": "A"})[1]["page"]
    assert page["kind"] == "result" and page["result"]["questions"] == 4 + again


def test_decisions_of_today_and_groups(server):
    """Decisions that somebody uploads are today's; a rule that looks at groups decides about an upload with groups."""
    client = server.client()
    page = answered(client, LOANS, "fair-linear")
    assert [len(g) for g in page["result"]["treatments"]["share"]] == [2, 2]
    assert page["result"]["treatments"]["rules"][1]["name"] == "the most probable class"
    text = "who;p;was;said\n" + "".join(
        f"{('female', 'male')[i % 2]};0,{i % 10}5;{('repays', 'defaults')[i % 3 == 0]};{i % 4 // 3}\n" for i in range(240))
    upload = client.json("POST", "/api/upload", text.encode(), CSV)[1]["upload"]
    token = {"X-Melicit-CSRF": page["csrf"]}
    columns = {"upload": upload, "truth": "was", "decision": "said", "group": "who"}
    status, told = client.post("/api/today", columns, **token)
    assert status == 200 and told["rows"] == 240 and sum(told["counts"]) == 240, told
    expected = [0] * 8
    for i in range(240):
        expected[4 * (i % 2) + 2 * (i % 3 == 0) + i % 4 // 3] += 1
    assert told["counts"] == expected
    for wrong, field in (({"truth": "nothing"}, "truth"), ({"decision": "p"}, "decision"), ({"group": "was"}, "group"), ({"upload": "no"}, None)):
        status, refused = client.post("/api/today", {**columns, **wrong}, **token)
        assert status in (400, 404) and refused["error"].get("field") == field, refused
    page = client.send(page, {"today": {"counts": told["counts"]}})[1]["page"]
    rule = page["result"]["treatments"]["rules"][1]
    assert rule["name"] == "decided today"
    assert rule["decided"][1][0][1][0] == pytest.approx(expected[5] / (expected[4] + expected[5]))
    page = client.send(page, {"today": {"threshold": 0.3}})[1]["page"]
    assert page["result"]["treatments"]["rules"][1]["name"] == "from the threshold of today on"
    for wrong in ({"counts": [1]}, {"counts": [0] * 8}, {"threshold": 2}, {"threshold": 0.1, "counts": expected}, {"x": 1}):
        assert client.send(page, {"today": wrong})[0] == 400
    # What was said is in the log: another process would find it there.
    assert client.get("/api/page")[1]["page"]["result"]["treatments"]["rules"][1]["name"] == "from the threshold of today on"
    # The rule of an example says nothing about another file.
    status, refused = client.post("/api/decisions", {"upload": upload, "columns": ["p"], "group": "who"}, **token)
    assert status == 400 and "the example's test" in refused["error"]["message"]


def test_a_threshold_of_today(server):
    client = server.client()
    page = answered(client, {"data": "breast_cancer_original"}, "linear")
    usual = page["result"]["settings"]["usual"]
    assert usual["threshold"] == 0.5
    page = client.send(page, {"today": {"threshold": 0.1}})[1]["page"]
    moved = page["result"]["settings"]["usual"]
    assert moved["threshold"] == 0.1 and moved["missed"]["value"] <= usual["missed"]["value"]
    rows = decisions(client, page)
    flagged = sum(float(row["probability of 1"]) >= 0.1 and row["truth"] == "0" for row in rows)
    assert abs(moved["false_alarms"]["value"] - flagged * 1000 / len(rows)) < 1 and moved["false_alarms"]["value"] % 1 == 0
    page = client.send(page, {"today": {"counts": [75, 25, 10, 90]}})[1]["page"]
    counted = page["result"]["settings"]["usual"]
    positives = sum(row["truth"] == "1" for row in rows) / len(rows)
    assert "threshold" not in counted and counted["missed"]["value"] == pytest.approx(1000 * positives * 0.1)
    page = client.send(page, {"today": {}})[1]["page"]
    assert page["result"]["settings"]["usual"] == usual


def test_command_lines_run_as_they_are_shown(server, melicit):
    """With groups in a file of one's own, and of given classifiers."""
    client = server.client()
    rows = [(i * 37 % 1000 / 1000, "yes" if i * 37 % 1000 > 400 + i * 13 % 300 - 150 else "no", "fm"[i % 2]) for i in range(300)]
    text = "yes,truth,sex\n" + "".join(f"{p:.3f},{y},{g}\n" for p, y, g in rows)
    upload = "upload:" + client.json("POST", "/api/upload", text.encode(), CSV)[1]["upload"]
    chosen = {"upload": upload.split(":")[1], "columns": [{"name": "yes", "from": "yes"}]}
    probs = client.post("/api/columns", chosen, **{"X-Melicit-CSRF": "first"})[1]["upload"]
    space = {"probs": f"upload:{probs}", "probs_columns": "yes", "labels": upload, "label": "truth", "groups": upload, "group": "sex", "positive": "yes"}
    page = answered(client, space, "fair-linear")
    # A rule that looks at groups decides about an upload with groups.
    decided = decisions(client, page, upload=upload.split(":")[1], columns=["yes"], group="sex")
    assert len(decided) == 300 and {row["decision"] for row in decided} == {"yes", "no"}
    refused = client.post("/api/decisions", {"upload": upload.split(":")[1], "columns": ["yes"]}, **{"X-Melicit-CSRF": page["csrf"]})
    assert refused[1]["error"]["field"] == "group"
    pool = "name,tp,fp,fn,tn\nold,80,30,20,870\nnew,90,85,10,815\ncautious,95,160,5,740\n"
    other = server.client()
    given = other.json("POST", "/api/upload", pool.encode(), CSV)[1]["upload"]
    ranked = answered(other, {"candidates": f"upload:{given}"}, "linear")
    (melicit.folder / "classifiers.csv").write_text(pool)
    for name, at in (("probabilities", 0), ("labels", 1), ("groups", 2)):
        (melicit.folder / f"{name}.csv").write_text(f"{'yes' if at == 0 else name}\n" + "".join(f"{row[at]}\n" for row in rows))
    for who, line in ((client, page["result"]["command"]), (other, ranked["result"]["command"])):
        (melicit.folder / "metric.json").write_bytes(who.request("GET", "/api/result/metric")[1])
        words = line.split()
        assert words[0] == "melicit"
        done = melicit(*words[1:])
        assert done.code == 0, done.err
    assert (melicit.folder / "rule.json").exists()


def test_a_bound_below_one_of_a_kind_is_turned_round(server):
    """Somebody who never takes a false alarm where the test has many to offer: nothing counts "more than 0.03 missed cases"."""
    client = server.client()
    page = client.own(space={"population": "logistic:a=5,b=7"}, words={"mistakes": {"missed": "missed crack", "missed_plural": "missed cracks",
                      "false_alarm": "false alarm"}}, options={"max_questions": 20, "announce_repeats": True})
    while page["kind"] == "question":
        a, b = (page["question"][side][0][1] for side in "ab")
        page = client.send(page, {"answer": "A" if a < b else "B"})[1]["page"]
    result = page["result"]
    low, high = result["ratio_interval"]
    assert low is None and high > 1 and result["open_ended"]
    words = next(s["text"] for s in result["statements"] if s["key"] == "words")
    assert words.startswith("One missed crack counts less than ") and "never accepted a false alarm" in words, words
    assert "e-1" not in " ".join(s["text"] for s in result["statements"])


def test_names_of_mistakes_may_hold_usual_ones(server):
    """The class "positive" has "missed positives"; who calls them "missed positive cases" reads that, not "case cases"."""
    client = server.client()
    page = client.own(space={"population": "logistic:a=5,b=0", "classes": ["negative", "positive"]},
                      words={"mistakes": {"missed": "missed positive case", "missed_plural": "missed positive cases", "false_alarm": "false alarm"}},
                      options={"max_questions": 20, "until": "ratio"})
    while page["kind"] == "question":
        a, b = (page["question"][side][1][0] + 5 * page["question"][side][0][1] for side in "ab")
        page = client.send(page, {"answer": "A" if a < b else "B"})[1]["page"]
    words = next(s["text"] for s in page["result"]["statements"] if s["key"] == "words")
    assert re.match(r"One false alarm counts as much as [\d.]+ missed positive cases;", words), words


def test_a_report_of_one_bound_names_no_best_guess(server):
    """Page and report say of a ratio that has a lower bound alone what follows from the bound, not from a guess beyond it."""
    client = server.client()
    page = client.own(space={"data": "breast_cancer_original"}, words={"mistakes": {"missed": "missed cancer", "missed_plural": "missed cancers",
                      "false_alarm": "false alarm"}}, options={"max_questions": 20, "until": "ratio"})
    while page["kind"] == "question":
        a, b = (page["question"][side][1][0] for side in "ab")
        page = client.send(page, {"answer": "A" if a < b else "B"})[1]["page"]
    result = page["result"]
    low, high = result["ratio_interval"]
    assert high is None and low > 20
    report = client.request("GET", "/api/result/report")[1].decode()
    cells = [float(text.replace(",", "")) for text in re.findall(r"<td>more than ([\d,.]+) false alarms</td>", report)]
    usual = result["settings"]["usual"]
    assert usual["weighs"] == f"more than {cells[-1]:,.0f} false alarms"
    assert cells[-1] <= low * usual["missed"]["value"] + usual["false_alarms"]["value"] < 1.1 * cells[-1]
    below = re.search(r"If the scores were true probabilities it would be below ([\d.]+),", report)
    assert 1 / (1 + low) <= float(below[1]) < 1.1 / (1 + low)
    assert result["threshold"]["text"] == f"less than {100 * float(below[1]):.2g}%"


def test_decisions_can_be_matched_by_name(server):
    """Rows have the number that they have in the file, and what the file calls them, also after a split."""
    client = server.client()
    rng = numpy.random.default_rng(5)
    x, names = rng.normal(size=200), [f"case, {i:03d}" for i in range(200)]
    truth = ["ill" if a + b > 0.8 else "well" for a, b in zip(x, rng.normal(size=200))]
    table = "x,paid,patient,truth\n" + "".join(f'{a:.4f},{i % 7},"{name}",{t}\n' for i, (a, name, t) in enumerate(zip(x, names, truth)))
    upload = client.json("POST", "/api/upload", table, {"Content-Type": "text/csv"})[1]["upload"]
    page = answered(client, {"data": f"upload:{upload}", "label": "truth", "classes": ["well", "ill"]}, "linear")
    rows = decisions(client, page)
    assert list(rows[0]) == ["row", "patient", "probability of ill", "truth", "decision"] and len(rows) == 100
    assert len({row["row"] for row in rows}) == 100
    for row in rows:
        at = int(row["row"]) - 1
        assert row["patient"] == names[at] and row["truth"] == truth[at]
    # Probabilities of another model: a column called id, which may hold numbers, or the one that is named.
    probs = "p,customerId,region\n" + "".join(f"{i / 20},{9000 - i},r{i % 3}\n" for i in range(20))
    upload = client.json("POST", "/api/upload", probs, {"Content-Type": "text/csv"})[1]["upload"]
    rows = decisions(client, page, upload=upload, columns=["p"])
    assert [row["customerId"] for row in rows] == [str(9000 - i) for i in range(20)]
    rows = decisions(client, page, upload=upload, columns=["p"], id="region")
    assert rows[4]["region"] == "r1" and "customerId" not in rows[0]
    status, told = client.post("/api/decisions", {"upload": upload, "columns": ["p"], "id": "nobody"}, **{"X-Melicit-CSRF": page["csrf"]})
    assert status == 400 and told["error"]["field"] == "id"
    # Without anything that tells rows apart they have numbers.
    upload = client.json("POST", "/api/upload", "p,z\n0.1,1\n0.9,1\n", {"Content-Type": "text/csv"})[1]["upload"]
    assert list(decisions(client, page, upload=upload, columns=["p"])[0]) == ["row", "probability of ill", "decision"]


def test_ids_are_written_as_the_file_has_them(server):
    """Numbers would lose leading zeros, and digits beyond what a double holds."""
    client = server.client()
    rng = numpy.random.default_rng(6)
    x = rng.normal(size=120)
    truth = ["ill" if a + b > 0.8 else "well" for a, b in zip(x, rng.normal(size=120))]
    table = "patient_id,x,truth\n" + "".join(f"{37 * i:08d},{a:.4f},{t}\n" for i, (a, t) in enumerate(zip(x, truth)))
    upload = client.json("POST", "/api/upload", table, {"Content-Type": "text/csv"})[1]["upload"]
    page = answered(client, {"data": f"upload:{upload}", "label": "truth", "classes": ["well", "ill"]}, "linear")
    rows = decisions(client, page)
    assert [row["patient_id"] for row in rows] == [f"{37 * (int(row['row']) - 1):08d}" for row in rows]
    large = [str(90071992547409910 + 3 * i) for i in range(20)]  # as doubles, neighbours are equal
    probs = "p;customer_id;zip\n" + "".join(f"0,{i:02d};{name};{i // 2:05d}\n" for i, name in enumerate(large))
    upload = client.json("POST", "/api/upload", probs, {"Content-Type": "text/csv"})[1]["upload"]
    rows = decisions(client, page, upload=upload, columns=["p"])
    assert [row["customer_id"] for row in rows] == large
    rows = decisions(client, page, upload=upload, columns=["p"], id="zip")
    assert [row["zip"] for row in rows] == [f"{i // 2:05d}" for i in range(20)]
    # Probabilities are no longer than it takes to read them back.
    assert [row["probability of ill"] for row in rows] == [str(i / 100) if i else "0" for i in range(20)]
    upload = client.json("POST", "/api/upload", "p,id\n0.1,-7\n0.9,+8\n", {"Content-Type": "text/csv"})[1]["upload"]
    assert [row["id"] for row in decisions(client, page, upload=upload, columns=["p"])] == ["-7", "+8"]


@pytest.mark.parametrize("table,ids", [
    ("customer_id,x,y\n0090071992547409911,0.5,a\n0090071992547409912,0.7,b\n", "customer_id"),  # as doubles they are equal
    ("x,name,y\n0.5,Ada,1\n0.7,Bob,1\n", "name"),
    ("income,id,y\n0.5,1,a\n0.7,1,a\n", None),  # numbers that all differ are no ids, and ids differ
    ("x,volt_id,y\n1,0.5,a\n2,0.7,a\n", None)])
def test_uploads_say_which_column_identifies_rows(server, table, ids):
    """For the page, which leaves it out of a model; it is shown as the file has it."""
    status, told = server.client().json("POST", "/api/upload", table, {"Content-Type": "text/csv"})
    assert status == 200 and told["ids"] == ids, told
    at = [column["name"] for column in told["columns"]].index(ids or "y")
    assert [row[at] for row in told["head"]] == [line.split(",")[at] for line in table.split()[1:]]
