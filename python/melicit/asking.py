"""Asking a person: at a terminal, in a notebook, at a page of this machine."""
from __future__ import annotations

import html
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, List, Optional, Tuple
from urllib.parse import parse_qs

from ._core import fail
from .errors import MelicitError
from .session import Question, Session

KEYS = {"a": "A", "b": "B", "=": "=", "?": "?"}
HELP = "a or b: which is better; =: about the same; ?: can't say; u: take the last answer back; q: stop"


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


def headline(question: Question) -> str:
    about = f" of about {question.expected}" if question.expected >= question.number else ""
    each = f"{question.people:,} people" + (" of each class" if question.of_each_class else "")
    return f"Question {question.number}{about}: {each}, two ways to decide. Which is better?"


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
                typed = read("a, b, =, ?, u, q: ")
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
        _Page(session).serve(open_page)
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


STYLE = """body{font:18px/1.5 system-ui,sans-serif;max-width:44em;margin:3em auto;padding:0 1em}
td,th{padding:.3em 1em;text-align:left;border-bottom:1px solid #ccc}.n{text-align:right}
button{font:inherit;padding:.4em 1.2em;margin:.6em .4em 0 0}"""
SCRIPT = """addEventListener('keydown',function(e){if(e.ctrlKey||e.altKey||e.metaKey)return;
var b=document.querySelector('button[data-key="'+CSS.escape(e.key.toLowerCase())+'"]');if(b){e.preventDefault();b.click()}})"""
BUTTONS = (("a", "A is better"), ("b", "B is better"), ("=", "About the same"), ("?", "Can't say"), ("u", "Back"), ("q", "Stop"))


class _Page:
    """Questions at http://127.0.0.1:PORT/TOKEN/: nobody else can guess the address."""

    def __init__(self, session: Session) -> None:
        self.session, self.token, self.ended = session, secrets.token_urlsafe(16), threading.Event()
        self.failure: Optional[BaseException] = None
        self.lock = threading.Lock()

    def serve(self, open_page: Optional[Callable[[str], Any]]) -> None:
        page = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                page.reply(self, None)

            def do_POST(self) -> None:
                page.reply(self, self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 4096)))

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        worker = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        worker.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/{self.token}/"
        try:
            if open_page is None:
                import webbrowser

                print(f"Questions are at {url}")
                webbrowser.open(url)
            else:
                open_page(url)
            while not self.ended.wait(0.2):  # so that Ctrl-C is heard
                pass
        finally:
            server.shutdown()
            server.server_close()
        if self.failure is not None:
            raise self.failure

    def reply(self, request: Any, body: Optional[bytes]) -> None:
        if not secrets.compare_digest(request.path.encode(), f"/{self.token}/".encode()):
            request.send_error(404)
            return
        done = False
        with self.lock:
            try:
                content, done = self._content(body)
            except BaseException as error:  # for who called ask()
                self.failure, content, done = error, f"<p>{html.escape(str(error))}</p>", True
        data = (
            f"<!doctype html><html lang='en'><meta charset='utf-8'><title>melicit</title><style>{STYLE}</style>{content}"
            f"<script>{SCRIPT}</script></html>"
        ).encode()
        request.send_response(200)
        request.send_header("Content-Type", "text/html; charset=utf-8")
        request.send_header("Content-Length", str(len(data)))
        request.send_header("Cache-Control", "no-store")
        request.send_header("Referrer-Policy", "no-referrer")
        request.end_headers()
        request.wfile.write(data)
        if done:
            self.ended.set()

    def _content(self, body: Optional[bytes]) -> Tuple[str, bool]:
        note = ""
        if body is not None:
            fields = parse_qs(body.decode("utf-8", "replace"))
            key, number = fields.get("key", [""])[0], fields.get("question", [""])[0]
            question = self.session.ask()
            if key == "q":
                return "<p>Stopped; what was answered counts. You may close this page.</p>", True
            if question is not None and number == str(question.number):  # else: sent twice, or an old page
                note = _take(self.session, question, key) or ""
        question = self.session.ask()
        if question is None:
            words = html.escape(self.session.metric.describe())
            return f"<p>{words}</p><p>That was the last question. You may close this page.</p>", True
        buttons = "".join(
            f"<button name='key' value='{html.escape(key)}' data-key='{html.escape(key)}'>{html.escape(words)} [{key}]</button>"
            for key, words in BUTTONS
        )
        form = f"<form method='post'><input type='hidden' name='question' value='{question.number}'>{buttons}</form>"
        return as_html(question) + form + (f"<p role='alert'>{html.escape(note)}</p>" if note else ""), False
