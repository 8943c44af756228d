"""The explorer: texts are read and never executed; answers name the error; the server answers its own page only."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.__main__ import main
from symgrad.explorer.answers import answer
from symgrad.explorer.reading import NotPython, read_module
from symgrad.explorer.server import Server, Worker
from tests.explorer.samples import HOSTILE, Reader

TEXT = """import numpy as np

SCALE = 2.0

def loss(x, w=0.5):
    return np.sum(np.tanh(w * x)) * SCALE

def other(a: int, b):
    return b ** a

example_arguments = {"loss": (np.array([1.0, 2.0]), 0.25)}
"""

# ------------------------------------------------------------------ texts that are read


def test_a_text_gives_its_functions_and_its_data() -> None:
    module = read_module(TEXT)
    assert list(module.functions) == ["loss", "other"]
    assert module.data["SCALE"] == 2.0
    assert module.remarks == []
    gradient = symgrad.grad(module.functions["loss"])
    np.testing.assert_allclose(gradient(np.array([1.0, 2.0])), 2.0 * 0.5 / np.cosh(0.5 * np.array([1.0, 2.0])) ** 2)


#: statements that would leave a trace if they ran; ``{}`` is the file that they would write
TRACES = [
    "open({!r}, 'w')", "import pathlib; pathlib.Path({!r}).touch()", "x = open({!r}, 'w')", "[open({!r}, 'w') for _ in (1,)]",
    "def f(x, y=open({!r}, 'w')): return x", "@(lambda f: (open({!r}, 'w'), f)[1])\ndef f(x): return x", "class A:\n    open({!r}, 'w')",
    "def f(x: open({!r}, 'w')): return x", "def f(x) -> open({!r}, 'w'): return x", "if True:\n    open({!r}, 'w')", "x: open({!r}, 'w') = 1",
    "import numpy as np\nnp.save({!r}, 1)", "import numpy as np\nx = np.ones(2).tofile({!r})", "with open({!r}, 'w'): pass",
    "def f(x):\n    open({!r}, 'w')\n    return x * x", "def f(x):\n    import numpy as np\n    np.save({!r}, 1)\n    return x * x",
    "import functools\n@functools.lru_cache\ndef g(n):\n    open({!r}, 'w')\n    return n\ndef f(x):\n    return x * g(2)",
    "def f(x):\n    exec('open(\"{}\", \"w\")')\n    return x * x", "def g():\n    open({!r}, 'w')\n    return 2\ndef f(x):\n    return x ** g()",
    "def f(x):\n    assert open({!r}, 'w')\n    return x * x", "def f(x):\n    from pathlib import Path\n    Path({!r}).touch()\n    return x * x",
    "def f(x):\n    return x * f'{open({!r}, 'w')}'.count('w')", "lambda: open({!r}, 'w')",
]  # fmt: skip


@pytest.mark.parametrize("text", TRACES)
def test_nothing_of_a_text_is_executed(text: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    program = text.replace("{!r}", repr(str(trace))).replace("{}", str(trace))
    answer({"text": program, "name": "f.py"}, run=False)
    answer({"text": f"{program}\ndef last(x):\n    return x * x\n", "name": "f.py"}, run=False)
    assert list(tmp_path.iterdir()) == []


def test_a_module_beside_the_file_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside_of_explorer.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    for text in (
        "import beside_of_explorer\n",
        "from beside_of_explorer import *\n",
        "from . import beside_of_explorer\n",
        "import numpy, beside_of_explorer\n",
    ):
        ((line, remark),) = read_module(text).remarks
        assert line == 1
        assert "is not executed" in remark


def test_a_function_that_imports_is_told_and_passed_over() -> None:
    module = read_module("def f(x):\n    def g(y):\n        import shutil\n        return y\n    return g(x)\n")
    assert module.functions == {}
    assert module.remarks == [(1, "f imports in line 3: import shutil is not executed")]


@pytest.mark.parametrize("text", ["def f(:", "\x00", "x = 'a", "(" * 500, "def f(x):\nreturn x", "return 1"])
def test_what_is_no_python_is_told(text: str) -> None:
    with pytest.raises(NotPython):
        read_module(text)
    reply = answer({"text": text}, run=False)
    assert "not Python yet" in reply["error"]["what"]


# ------------------------------------------------------------------ answers


def test_an_answer_holds_the_gradient_and_how_lines_belong_together() -> None:
    reply = answer({"text": TEXT, "name": "model.py", "function": "loss"}, run=False)
    read = Reader(reply["html"])
    assert reply["functions"] == ["loss", "other"]
    assert "def loss_grad(x, w):" in read.text
    assert "from model.py:5." in read.text
    assert read.named("function")
    assert read.named("derivative")
    assert not read.named("call")

    ran = Reader(answer({"text": TEXT, "name": "model.py", "function": "loss"}, run=True)["html"])
    assert "agrees with differences" in ran.text
    assert ran.named("call")


def test_arguments_and_parameters_are_asked_for() -> None:
    question = {"text": TEXT, "name": "model.py", "function": "loss"}
    assert "with respect to w" in Reader(answer({**question, "wrt": "w"}, run=False)["html"]).text
    assert "f32" in Reader(answer({**question, "args": "np.ones(3, np.float32)"}, run=False)["html"]).text
    assert "no parameter 'q'" in answer({**question, "wrt": "q"}, run=False)["error"]["what"]
    assert answer({**question, "args": "open('f')"}, run=False)["error"]["what"].startswith("arguments: open is not among")
    assert "do not fit loss" in answer({**question, "args": "1.0, 2.0, 3.0"}, run=False)["error"]["what"]


def test_the_function_with_example_arguments_is_shown_first() -> None:
    text = "def loss(x): return x * x\ndef helper(a, b, c): return a\nexample_arguments = {'loss': (3.0,)}\n"
    assert answer({"text": text}, run=False)["function"] == "loss"
    assert answer({"text": text, "function": "helper"}, run=False)["function"] == "helper"


def test_where_nothing_is_known_of_parameters_numbers_are_tried() -> None:
    reply = answer({"text": TEXT, "name": "model.py", "function": "other", "wrt": "b"}, run=False)
    assert reply["guess"] == "2, 2.0"
    assert "html" in reply


def test_a_refusal_says_line_and_way_out() -> None:
    reply = answer({"text": "def f(x):\n    y = x\n    exec('y = 2')\n    return y\n", "name": "f.py"}, run=False)
    assert reply["error"]["line"] == 3
    assert reply["error"]["kind"] == "UnsupportedSyntax"
    assert reply["error"]["hint"] in Reader(reply["notice"]).text
    assert "html" not in reply


def test_what_is_missing_is_told() -> None:
    assert "no function yet" in answer({"text": "x = 1", "name": "f.py"}, run=False)["error"]["what"]
    assert "longer than" in answer({"text": "#" * 300_000, "name": "f.py"}, run=False)["error"]["what"]
    assert "raised ZeroDivisionError" in answer({"text": "1 / 0", "name": "f.py"}, run=True)["error"]["what"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_stay_text(name: str) -> None:
    for text in (
        f"raise ValueError({name!r})",
        f"def f(x, p={name!r}):\n    return x * x  # {name!r}\n",
        f"import os; {name!r}",
        name,
        f"def f(x): return x[{name!r}]",
    ):
        reply = answer({"text": text, "name": name, "args": "", "function": name}, run=False)
        for markup in (reply["notice"], reply.get("html", "")):
            tags = {tag for tag, _ in Reader(markup).elements}
            assert not tags & {"script", "style", "img", "iframe"}
            assert all(not word.startswith("on") for _, attributes in Reader(markup).elements for word in attributes)


# ------------------------------------------------------------------ the process that answers


def test_the_process_that_reads_writes_no_files_and_starts_none(tmp_path: Path) -> None:
    code = """
import os, socket, subprocess, sys
from symgrad.explorer.worker import forbid
forbid()
for act in (lambda: open(sys.argv[1], "w"), lambda: os.system("true"), lambda: subprocess.run(["true"]), lambda: os.remove(sys.argv[1]),
            lambda: socket.socket().connect(("127.0.0.1", 9)), lambda: os.mkdir(sys.argv[1]), lambda: os.open(sys.argv[1], os.O_CREAT)):
    try:
        act()
    except PermissionError as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "f")], capture_output=True, text=True)
    assert run.stderr == ""
    assert run.stdout.count("the explorer ") == 7
    assert list(tmp_path.iterdir()) == []


def test_what_takes_too_long_is_ended_and_the_next_question_answered() -> None:
    worker = Worker(run=True, limit=2.0)
    try:
        started = time.monotonic()
        reply = worker.ask({"text": "while True: pass", "name": "f.py"})
        assert "no answer within 2 s" in reply["error"]["what"]
        assert "no answer" in reply["notice"]
        reply = worker.ask({"text": "import os\nprint('to the terminal')\nos._exit(3)", "name": "f.py"})
        assert "has ended" in reply["error"]["what"]
        worker.limit = 60.0
        assert "html" in worker.ask({"text": "print('no answer')\ndef f(x): return x * x", "name": "f.py"})
        assert time.monotonic() - started < 120
    finally:
        worker.stop()


# ------------------------------------------------------------------ the server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(TEXT, "model.py") as one:
        threading.Thread(target=one.serve_forever, daemon=True).start()
        yield one
        one.shutdown()


def asked(
    server: Server, method: str = "GET", path: str | None = None, body: Any = None, **headers: str
) -> tuple[int, dict[str, str], str]:
    """Status, headers and text of a reply; ``Host`` is what the address says unless another one is given."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=90)
    try:
        connection.putrequest(method, path if path is not None else f"/{server.token}/", skip_host=True)
        named = {"Host": f"127.0.0.1:{server.server_port}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if body is not None:
            named = {"Content-Type": "application/json", "Content-Length": str(len(content)), **named}
        for name, value in named.items():
            connection.putheader(name, value)
        connection.endheaders(content)
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read().decode()
    finally:
        connection.close()


def test_the_page_is_served_to_whoever_knows_the_address(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    status, headers, text = asked(server)
    assert status == 200
    assert "SCALE = 2.0" in text
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; connect-src 'self'; ")
    assert "'unsafe-inline'" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers


def test_every_other_address_is_refused(server: Server) -> None:
    assert len(server.token) >= 32
    for path in (
        "/",
        "/answer",
        f"/{server.token[:-1]}/",
        f"/{server.token}x/",
        f"/{server.token}",
        f"/{server.token}/../",
        f"/{server.token}/x",
    ):
        status, _, text = asked(server, path=path)
        assert (status, text) == (404, ""), path


def test_other_names_and_other_pages_are_refused(server: Server) -> None:
    port = server.server_port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", "", f"127.0.0.1:{port}.evil.example"):
        assert asked(server, Host=host)[0] == 403, host
    question = {"text": TEXT, "function": "loss"}
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ):
        status, sent, text = asked(server, "POST", f"/{server.token}/answer", question, **headers)
        assert (status, text) == (403, ""), headers
        assert not any(name.startswith("Access-Control") for name in sent)
    assert asked(server, "OPTIONS", f"/{server.token}/answer")[0] == 501
    assert asked(server, Host=f"localhost:{port}")[0] == 200


def test_questions_are_json_of_bounded_length(server: Server) -> None:
    place = f"/{server.token}/answer"
    assert asked(server, "POST", place, b"text=x", Content_Type="application/x-www-form-urlencoded")[0] == 415
    assert asked(server, "POST", place, b"{}", Content_Type="text/plain")[0] == 415
    assert asked(server, "POST", place, b"{")[0] == 400
    assert asked(server, "POST", place, b"[1]")[0] == 400
    assert asked(server, "POST", place, b"{}", Content_Length="999999999")[0] == 413
    assert asked(server, "POST", place, b"{}", Content_Length="-1")[0] == 413
    assert asked(server, "POST", f"/{server.token}/", b"{}")[0] == 404


def test_a_question_is_answered(server: Server) -> None:
    origin = f"http://127.0.0.1:{server.server_port}"
    status, headers, text = asked(
        server, "POST", f"/{server.token}/answer", {"text": TEXT, "function": "loss"}, Origin=origin, Sec_Fetch_Site="same-origin"
    )
    assert status == 200
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert "loss_grad" in Reader(json.loads(text)["html"]).text


def test_hostile_texts_stay_text_in_the_editor() -> None:
    for name in HOSTILE:
        with Server(f"</textarea>{name}", name, args=name, wrt=name) as one:
            tags = [tag for tag, _ in Reader(one.page).elements]
            assert tags.count("script") == 2
            assert tags.count("textarea") == 1
            assert "img" not in tags


# ------------------------------------------------------------------ the command


def test_explore_serves_until_it_is_interrupted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.py"
    path.write_text(TEXT)

    def interrupted(self: Server) -> None:
        assert "SCALE" in self.page
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", interrupted)
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["explore", str(path)]) == 0
    address = capsys.readouterr().out.strip()
    assert address.startswith("http://127.0.0.1:")
    assert opened == [address]
    assert main(["explore", str(path), "--no-browser", "--run"]) == 0
    assert "The text is executed." in capsys.readouterr().err
    assert len(opened) == 1
    assert path.read_text() == TEXT

    assert main(["explore", str(tmp_path / "nowhere.py")]) == 2
    assert main(["explore", str(path), "--port", "99999999"]) == 2
