"""melicit serve --relay: questions of another program, answered at a page of this machine."""
import json
import subprocess

import pytest
from conftest import PROGRAM, environment
from serving import open_question, page_request

QUESTION = {
    "number": 1, "title": "Question 1", "people": 1000, "classes": ["no", "yes"],
    "a": [[[870, 30], [20, 80]]], "b": [[[850, None], [10, 90]]],
}


def begin(*words):
    process = subprocess.Popen([PROGRAM, "serve", "--relay", "--port", "0", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    return process, json.loads(process.stdout.readline())["url"]


def ended(url):
    """Asks as an open page does, until there are no more questions."""
    while "number" in (shown := open_question(url)):
        pass
    return shown == {"ended": True}


def test_questions_in_answers_out():
    process, url = begin()
    for number, answer in ((1, "A"), (2, "undo"), (1, "="), (2, "?"), (3, "stop")):
        asked = {**QUESTION, "number": number, "groups": ["f"], "names": ["x", "y"], "remark": "", "of_each_class": True}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        assert open_question(url) == asked
        assert page_request(url + "answer", {"question": number + 1, "answer": "A"})[0] == 409
        assert page_request(url + "answer", {"question": number, "answer": answer})[0] == 200
        assert json.loads(process.stdout.readline()) == {"number": number, "answer": answer}
    assert page_request(url.rsplit("/", 2)[0] + "/question")[0] == 404
    process.stdin.close()
    assert ended(url)
    assert process.stdout.read() == "" and process.wait() == 0


def test_nobody_reads_the_answers():
    process, url = begin()
    process.stdin.write(json.dumps(QUESTION) + "\n")
    process.stdin.flush()
    assert open_question(url)["number"] == 1
    process.stdout.close()
    process.stdin.close()
    assert ended(url)
    assert process.wait() == 4


def test_counted(melicit):
    said = melicit("serve", "--relay", "--port", 0, "--json").done().out
    assert json.loads(said.split("\n", 1)[1]) == {"questions": 0}


@pytest.mark.parametrize("change", [
    "", "nothing", "{}", {"number": 0}, {"number": 2**32}, {"number": "1"}, {"title": None}, {"people": 0}, {"classes": ["no"]}, {"classes": [0, 1]},
    {"groups": ["f", "m"]}, {"groups": "f"}, {"names": ["x"]}, {"remark": 3}, {"of_each_class": 1}, {"a": [[[1, 2], [3]]]},
    {"a": [[[1, 2]]]}, {"a": [[[1, 2.5], [3, 4]]]}, {"b": [[[1, -2], [3, 4]]]}, {"b": []}, {"b": {}},
])
def test_what_the_page_could_not_draw_is_refused(melicit, change):
    line = change if isinstance(change, str) else json.dumps({**QUESTION, **change})
    done = melicit("serve", "--relay", "--port", 0, stdin=line + "\n")
    assert done.code == 3 and "standard input, line 1: not a question" in done.err, done.err
