"""Every sentence of the participants' pages and of the library is in the catalogue, in each language; pages and results speak it."""
import json
import re
from pathlib import Path

import pytest
from serving import Server, create_study, small_study, survey_of

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = json.loads((ROOT / "web/languages.json").read_text("utf-8"))
LANGUAGES = ("de", "fr", "es")
PAGES = [*sorted((ROOT / "web/src/pages").glob("*.tsx")), *sorted((ROOT / "web/src/charts").glob("*.tsx")), ROOT / "web/src/lib/text.ts",
         ROOT / "web/src/app.tsx", ROOT / "web/src/shell.tsx", ROOT / "web/src/start/hero.tsx", ROOT / "web/src/start/draft.ts"]


def end_of_template(text, at):
    """Behind the template that begins at `at`, and its text with {0}, {1}, ... for what is put in."""
    out, fields = "", 0
    while text[at] != "`":
        if not text.startswith("${", at):
            out, at = out + text[at], at + 1
            continue
        out, fields, at, depth = out + f"{{{fields}}}", fields + 1, at + 2, 1
        while depth > 0:
            if text[at] == "`":
                at = end_of_template(text, at + 1)[0]
                continue
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return at + 1, out


def sentences_of_pages():
    for path in PAGES:
        text = path.read_text("utf-8")
        for found in re.finditer(r"(?<![\w$])tx?`", text):
            yield path.name, end_of_template(text, found.end())[1]


def sentences_of_library():
    for path, begin, end in (("src/oracle/changes.c", "#define SENTENCES", "#define ROW"), ("src/metric/words.c", "#define SENTENCES", "typedef struct"),
                             ("src/outcome/catalogue.h", "#define MEL_OUTCOME_CATALOGUE", "#endif")):
        text = (ROOT / path).read_text("utf-8")
        rows = re.sub(r"\s*\\\n\s*", " ", text[text.index(begin):].split(end)[0])
        for row in re.split(r"\bX\((?=\w+,)", rows)[1:]:
            texts = [re.findall(r'"((?:[^"\\]|\\.)*)"', group) for group in re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+', row)]
            for group in texts[1:] if path.endswith("catalogue.h") else texts: # after the finding
                yield path, "".join(group).encode().decode("unicode_escape").encode("latin-1").decode("utf-8")


def fields(text):
    return sorted(set(re.findall(r"\{(\w+)", text)))


@pytest.mark.parametrize("part,sentences", [("pages", sentences_of_pages), ("sentences", sentences_of_library)])
def test_every_sentence_is_in_the_catalogue(part, sentences):
    seen = list(sentences())
    assert len(seen) > 150
    missing = [(where, text) for where, text in seen if text not in CATALOGUE[part]]
    assert missing == []
    for english, others in CATALOGUE[part].items():
        for language in LANGUAGES:
            assert others[language].strip() and fields(others[language]) == fields(english), (english, language)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("languages"))
    yield running
    running.stop()


START = {"space": {"data": "mammographic_mass", "label": "label", "positive": "malignant"}, "words": {"people": "Frauen",
         "mistakes": {"missed": "Fund", "missed_plural": "Funde", "false_alarm": "Fehlalarm", "false_alarm_plural": "Fehlalarme"}},
         "family": "linear", "options": {"max_questions": 12, "announce_repeats": True}}


@pytest.mark.parametrize("accept,language,finds,says", [
    ("de-AT,de;q=0.9,en;q=0.5", "de", r"hat \d+ (mehr|weniger) Funde?", "zählt so viel wie"), ("xx, fr;q=0.3", "fr", r"a \d+ Funde? de (plus|moins)", "compte autant que"),
    ("es", "es", r"tiene \d+ Funde? (más|menos)", "cuenta tanto como"), ("en-GB,de;q=0.9", "en", r"has \d+ (more|fewer) Funde?", "counts as much as"),
    ("xx", "en", r"has \d+ (more|fewer) Funde?", "counts as much as")])
def test_a_session_speaks_the_language_of_the_browser(server, accept, language, finds, says):
    client = server.client()
    page = client.post("/api/start", START, **{"Accept-Language": accept})[1]["page"]
    assert page["language"] == language
    while page["kind"] == "question":
        q = page["question"]
        assert q["told"]["parts"] and re.search(finds, q["sentence"]), q["sentence"]
        a, b = (8 * q[side][1][0] + q[side][0][1] for side in "ab")
        body = {"seq": page["seq"], "key": f"languages {accept} {page['seq']}", "value": {"answer": "A" if a < b else "B"}}
        status, told = client.post("/api/event", body, **{"X-Melicit-CSRF": page["csrf"], "Accept-Language": accept})
        assert status == 200, told
        page = told["page"]
    result = page["result"]
    assert says in result["headline"]["text"], result["headline"]
    if language != "en":
        english = client.get("/api/page")[1]["page"]["result"]
        same = [s["text"] for s, e in zip(result["statements"], english["statements"]) if s["text"] == e["text"]]
        assert same == [], same
        assert result["cost_ratio"]["value"] == english["cost_ratio"]["value"]
    if language == "de" and result["cost_ratio"]["value"] < 9.5:
        assert re.search(r"\d,\d", result["headline"]["text"]), result["headline"]


def test_a_study_names_its_language(server, melicit):
    study = json.loads((ROOT / "studies/cancer.json").read_text("utf-8"))
    (melicit.folder / "s.json").write_text(json.dumps({**study, "language": "fr"}), "utf-8")
    done = melicit("study", "check", "s.json")
    assert done.code == 0, done.err
    (melicit.folder / "s.json").write_text(json.dumps({**study, "language": "tlh"}), "utf-8")
    refused = melicit("study", "check", "s.json")
    assert refused.code != 0 and "language: expected en, de, fr or es" in refused.err


def test_researchers_read_english(server):
    """Their pages are in English, also about people whose pages are not."""
    study = create_study(server, {**small_study(), "language": "de"})
    for client in (server.client(), server.client()):
        page = client.join(study)
        assert page["language"] == "de"
        client.walk(page)
    for person in survey_of(server.researcher(), study)["live"]:
        assert re.search(r"\b(answers|counts)\b", person["words"]), person["words"]
