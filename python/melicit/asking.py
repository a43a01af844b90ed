"""Asking a person: at a terminal, in a notebook, at a page of this machine."""
from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._core import fail
from .errors import MelicitError
from .program import PROGRAM
from .session import Question, Session

KEYS = {"a": "A", "b": "B", "=": "=", "s": "?"}  # "?" is the record of "can't say"; typed, it explains
HELP = "a or b: which is better; =: about the same; s: can't say; u: take the last answer back; q: stop; ?: explain"


def mistakes(question: Question) -> List[Tuple[str, int, int]]:
    """What A and B do wrong, in people: (words, A, B). Right decisions where mistakes are not known."""
    out = []
    k, of = len(question.classes), question.groups or ("",)
    for right in (False, True):
        for g, group in enumerate(of):
            for true in range(k):
                for decided in range(k):
                    a, b = int(question.counts_a[g, true, decided]), int(question.counts_b[g, true, decided])
                    if (true == decided) == right and a >= 0 and b >= 0:
                        words = _words(question.classes, true, decided)
                        out.append((f"{group}: {words}" if group else words, a, b))
        if out:
            break
    return out


def _words(classes: Tuple[str, ...], true: int, decided: int) -> str:
    return f"{classes[true]} recognised" if true == decided else f"{classes[true]} taken for {classes[decided]}"


def title(question: Question) -> str:
    about = f" of about {question.expected}" if question.expected >= question.number else ""
    return f"Question {question.number}{about}"


def headline(question: Question) -> str:
    each = f"{question.people:,} people" + (" of each class" if question.of_each_class else "")
    return f"{title(question)}: {each}, two ways to decide. Which is better?"


def names(question: Question) -> Tuple[str, str]:
    return tuple(f"{side} ({name})" for side, name in zip("AB", question.names)) if question.names else ("A", "B")  # type: ignore[return-value]


def as_text(question: Question) -> str:
    rows = mistakes(question)
    a, b = names(question)
    wide = max([len(words) for words, _, _ in rows] + [0])
    lines = [headline(question)] + ([question.remark] if question.remark else [])
    lines += [f"  {'':{wide}}  {a:>10}  {b:>10}"]
    lines += [f"  {words:{wide}}  {x:>{max(10, len(a))},}  {y:>{max(10, len(b))},}" for words, x, y in rows]
    return "\n".join(lines)


def as_html(question: Question) -> str:
    a, b = (html.escape(name) for name in names(question))
    rows = "".join(
        f"<tr><td>{html.escape(words)}</td><td class='n'>{x:,}</td><td class='n'>{y:,}</td></tr>"
        for words, x, y in mistakes(question)
    )
    remark = f"<p>{html.escape(question.remark)}</p>" if question.remark else ""
    return (
        f"<div class='melicit'><p>{html.escape(headline(question))}</p>{remark}"
        f"<table><tr><th></th><th scope='col'>{a}</th><th scope='col'>{b}</th></tr>{rows}</table></div>"
    )


def _take(session: Session, question: Question, typed: str) -> Optional[str]:
    """What a key does: None goes on, else a sentence for the person; "q" is left to the caller."""
    key = typed.strip().lower()
    if key == "u":
        try:
            session.undo()
        except MelicitError as error:
            return str(error)
        return None
    if key not in KEYS:
        return HELP
    session.tell(question, KEYS[key])
    return None


def _converse(session: Session, show: Callable[[Question], None], read: Callable[[str], str], say: Callable[[str], None]) -> None:
    while True:
        question = session.ask()
        if question is None:
            say(session.metric.describe())
            return
        show(question)
        while True:
            try:
                typed = read("a, b, =, s, u, q, ?: ")
            except EOFError:
                return
            if typed.strip().lower() == "q":
                return
            wrong = _take(session, question, typed)
            if wrong is None:
                break
            say(wrong)


def in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def ask(
    session: Session,
    *,
    browser: bool = False,
    notebook: Optional[bool] = None,
    read: Callable[[str], str] = input,
    open_page: Optional[Callable[[str], Any]] = None,
) -> Session:
    """Asks a person until there are no more questions or they stop; answers count as they are given.

    At a terminal or, in a notebook, as tables with a line for the key; browser=True: at a page of this machine, which
    open_page(url) opens (default: the usual browser), and returns when the last question was answered.
    """
    if not isinstance(session, Session):
        raise TypeError(f"session: expected a Session, not {type(session).__name__}")
    if browser:
        _at_a_page(session, open_page)
    elif notebook if notebook is not None else in_notebook():
        from IPython.display import HTML, display

        def show(question: Question) -> None:
            display(HTML(as_html(question)))

        _converse(session, show, read, print)
    else:
        if read is input and not sys.stdin.isatty():
            raise fail("ESTATE", "there is no terminal here; use browser=True, or session.run() with a callable")
        _converse(session, lambda question: print("\n" + as_text(question)), read, print)
    return session


def _as_json(question: Question) -> str:
    """What `melicit serve --relay` reads."""
    shown: Dict[str, Any] = {
        "number": question.number,
        "title": title(question),
        "people": question.people,
        "of_each_class": question.of_each_class,
        "classes": question.classes,
        "groups": question.groups,
        "remark": question.remark,
        **({"names": question.names} if question.names else {}),
    }
    for side, counts in (("a", question.counts_a), ("b", question.counts_b)):
        groups: Any = counts.tolist()
        shown[side] = [[[None if n < 0 else n for n in row] for row in group] for group in groups]
    return json.dumps(shown) + "\n"


def _at_a_page(session: Session, open_page: Optional[Callable[[str], Any]]) -> None:
    """The program's own server shows the questions, at an address of this machine that nobody can guess."""
    command = [PROGRAM, "serve", "--relay", "--port", "0"]
    # In a session of its own: Ctrl-C is for Python, which then ends the server.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, encoding="utf-8") as server:
        try:
            _converse_at_a_page(session, server, open_page)
        except BaseException:
            server.terminate()
            server.wait()
            raise


def _converse_at_a_page(session: Session, server: "subprocess.Popen[str]", open_page: Optional[Callable[[str], Any]]) -> None:
    assert server.stdin is not None and server.stdout is not None
    url = _said(server, "url")
    if open_page is None:
        import webbrowser

        print(f"Questions are at {url}")
        webbrowser.open(url)
    else:
        open_page(url)
    while (question := session.ask()) is not None:
        server.stdin.write(_as_json(question))
        server.stdin.flush()
        word = _said(server, "answer")
        if word == "stop":
            return
        if word == "undo":
            session.undo()
        else:
            session.tell(question, word)


def _said(server: "subprocess.Popen[str]", key: str) -> str:
    assert server.stdout is not None
    line = server.stdout.readline()
    if not line:
        raise fail("EIO", "the page's server ended by itself; answers so far count")
    return str(json.loads(line)[key])
