"""Serves the explorer on 127.0.0.1: one page and one address for requests, both under a random token.

Requests that another page of the browser could send are refused: a foreign ``Host`` (a name that resolves to this machine, called DNS
rebinding), a foreign ``Origin``, a body that is no JSON, and every address without the token.
"""

from __future__ import annotations

import contextlib
import hmac
import http.server
import json
import queue
import secrets
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from symgrad.report.html import Html, element, join
from symgrad.report.page import asset, digest
from symgrad.tables import pairs

LIMIT = 10.0  #: seconds that an answer may take
BODY = 2_000_000  #: bytes that a question may have
STARTING = 60.0  #: seconds that the process which answers may take until it is ready
SAFE = pairs(
    """
    Cache-Control:no-store Cross-Origin-Opener-Policy:same-origin Cross-Origin-Resource-Policy:same-origin Referrer-Policy:no-referrer
    X-Content-Type-Options:nosniff X-Frame-Options:DENY
    """
)


class Worker:
    """The process that answers; where an answer takes too long it is ended, and the next question starts another one."""

    def __init__(self, run: bool, limit: float = LIMIT) -> None:
        self.run, self.limit = run, limit
        self.lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None
        self.listener: threading.Thread | None = None
        self.replies: queue.Queue[str] = queue.Queue()

    def start(self) -> subprocess.Popen[str]:
        """The process, which is started if there is none; its own folder is not on its path."""
        if self.process is not None and self.process.poll() is None:
            return self.process
        self.stop()
        command = [sys.executable, "-P", "-m", "symgrad.explorer.worker", *(["--run"] if self.run else [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.replies = queue.Queue()
        self.listener = threading.Thread(target=self.listen, args=(self.process, self.replies), daemon=True)
        self.listener.start()
        if self.replies.get(timeout=STARTING).strip() != "ready":
            raise RuntimeError("the process that reads texts does not start")
        return self.process

    @staticmethod
    def listen(process: subprocess.Popen[str], replies: queue.Queue[str]) -> None:
        """Forward the output of a process; an empty text marks its end."""
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                replies.put(line)
        replies.put("")

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question; that there is none where it takes too long, or the process ends."""
        with self.lock:
            process = self.start()
            assert process.stdin is not None
            try:
                process.stdin.write(f"{json.dumps(question)}\n")
                process.stdin.flush()
                line = self.replies.get(timeout=self.limit)
            except queue.Empty:
                self.stop()
                return unanswered(f"no answer within {self.limit:g} s: the computation is stopped")
            except OSError:
                line = ""
            if not line:
                self.stop()
                return unanswered("the process that reads the text has ended")
            reply: dict[str, Any] = json.loads(line)
            return reply

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            if self.process.stdin is not None:
                with contextlib.suppress(OSError):  # a question that was not read
                    self.process.stdin.close()
            if self.listener is not None:
                self.listener.join()
            self.process = None


def unanswered(what: str) -> dict[str, Any]:
    """Return an answer with the reason of a failure."""
    problem = element("p", what, class_="problem")
    return {
        "functions": [],
        "function": "",
        "args": "",
        "remarks": [],
        "notice": problem,
        "error": {"what": what, "line": 0, "hint": "", "kind": ""},
    }


# ------------------------------------------------------------------ the page


def editor_asset(name: str) -> Html:
    """A file of this package that becomes part of the page."""
    return Html((Path(__file__).parent / name).read_text(encoding="utf-8"))


def document(text: str, name: str, args: str, wrt: str, run: bool) -> tuple[str, str]:
    """The page and its content security policy."""
    style = Html(asset("page.css") + editor_asset("editor.css"))
    scripts = [asset("page.js"), editor_asset("editor.js")]
    policy = [
        "default-src 'none'",
        "connect-src 'self'",
        f"style-src {digest(style)}",
        f"script-src {' '.join(map(digest, scripts))}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    mode = ("executed on this machine", "mode runs") if run else ("read, never executed", "mode")
    title = element("h1", element("code", "symgrad"), " explorer")
    top = element("div", title, element("span", mode[0], class_=mode[1]), element("span", id="verdict"), class_="top")
    page = element("div", editor(text, name), element("div", id="derivative"), class_="pair")
    header = element("header", top, questions(args, wrt), element("div", id="call"))
    main = element("main", header, page, element("div", id="rest"), id="page-root")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{name} - symgrad explorer"),
        element("style", style),
    )
    body = element("body", main, join(element("script", script) for script in scripts), class_="explorer")
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n", "; ".join(policy)


def questions(args: str, wrt: str) -> Html:
    """Return the fields above the text: function, arguments, ``wrt``."""
    plain = {"autocomplete": "off", "spellcheck": "false"}
    return element(
        "form",
        element("label", "function ", element("select", id="function")),
        element("label", "arguments ", element("input", id="args", value=args, **plain), class_="wide"),
        element("label", "with respect to ", element("input", id="wrt", value=wrt, placeholder="the first", size="14", **plain)),
        class_="asked",
        id="asked",
    )


def editor(text: str, name: str) -> Html:
    """The pane with the text; a newline before the text is none of it, as HTML has it."""
    plain = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off", "wrap": "off"}
    area = element("textarea", f"\n{text}", id="text", aria_label=f"text of {name}", **plain)
    stack = element("div", element("pre", id="backdrop", class_="backdrop", aria_hidden="true"), area, class_="stack")
    return element(
        "section",
        element("div", element("h2", "The function"), element("span", name, class_="file"), class_="bar"),
        element("div", element("div", id="gutter", class_="gutter", aria_hidden="true"), stack, class_="edit"),
        element("div", id="notice", class_="notice", role="status"),
        element("div", id="told", class_="told", aria_live="polite"),
        class_="pane editor",
        aria_label="the function",
    )


class Server(http.server.ThreadingHTTPServer):
    """The server of one file's page, for clients that know the address."""

    daemon_threads = True

    def __init__(self, text: str, name: str, args: str = "", wrt: str = "", run: bool = False, port: int = 0, limit: float = LIMIT) -> None:
        self.worker = Worker(run, limit)
        super().__init__(("127.0.0.1", port), Handler)  # which closes itself where the port cannot be used
        self.token = secrets.token_urlsafe(24)
        self.name = name
        self.page, self.policy = document(text, name, args, wrt, run)
        self.hosts = frozenset(f"{host}:{self.server_port}" for host in ("127.0.0.1", "localhost"))

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that closes the connection during a reply."""

    def server_close(self) -> None:
        """Stop serving, and end the process that answers."""
        super().server_close()
        self.worker.stop()


class Handler(http.server.BaseHTTPRequestHandler):
    """One request: the page, or a question."""

    server: Server
    server_version, sys_version = "symgrad", ""
    timeout = 30

    def refused(self) -> int:
        """The status with which a request is refused; 0 if it may be answered."""
        if self.headers.get("Host", "") not in self.server.hosts:
            return 403
        if self.headers.get("Origin", f"http://{self.headers['Host']}") != f"http://{self.headers['Host']}":
            return 403
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return 403
        parts = self.path.split("/")
        known = len(parts) == 3 and hmac.compare_digest(parts[1].encode(), self.server.token.encode())
        return 0 if known else 404

    def do_GET(self) -> None:
        """The page."""
        status = self.refused()
        if status or not self.path.endswith(f"{self.server.token}/"):
            self.send_text(status or 404, "text/plain", "")
            return
        self.send_text(200, "text/html", self.server.page, {"Content-Security-Policy": self.server.policy})

    def do_POST(self) -> None:
        """A question."""
        length = self.headers.get("Content-Length", "")
        if status := self.refused():
            self.send_text(status, "text/plain", "")
        elif not self.path.endswith("/answer"):
            self.send_text(404, "text/plain", "")
        elif self.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
            self.send_text(415, "text/plain", "")
        elif not length.isdigit() or int(length) > BODY:
            self.send_text(413, "text/plain", "")
        else:
            self.answer(self.rfile.read(int(length)))

    def answer(self, body: bytes) -> None:
        """Send a request to the process, and return its answer."""
        try:
            question = json.loads(body)
        except ValueError:
            question = None
        if not isinstance(question, dict):
            self.send_text(400, "text/plain", "")
            return
        reply = self.server.worker.ask({**question, "name": self.server.name})
        self.send_text(200, "application/json", json.dumps(reply))

    def send_text(self, status: int, kind: str, text: str, headers: dict[str, str] | None = None) -> None:
        """Send a reply."""
        content = text.encode("utf-8", errors="backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in {**SAFE, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged: their address holds the token."""


__all__ = ["Server", "Worker"]
