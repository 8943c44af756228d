"""The pages in a headless browser: linked lines, tabs, keyboard, no external request, names shown as text.

It takes playwright (``pip install symgrad[browser]``) and Chromium: playwright's own, or the one on the path.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.explorer.server import Server
from symgrad.report.facts import facts_of
from symgrad.report.page import page as page_of
from tests.explorer.samples import HOSTILE, SAMPLES

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install symgrad[browser]")

TEXT = """import numpy as np

def loss(x, w):
    h = x
    for _ in range(3):
        h = np.tanh(w * h)
    return np.sum(h)

example_arguments = {"loss": (np.array([0.5, -0.25]), 0.75)}
"""
WAIT = 30_000  #: milliseconds that a slow machine may take


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    own = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with playwright.sync_playwright() as driver:
        if own is None and not Path(driver.chromium.executable_path).exists():
            pytest.skip("there is no Chromium: python -m playwright install chromium")
        one = driver.chromium.launch(executable_path=own, args=["--no-sandbox"])
        yield one
        one.close()


class Opened:
    """A page in the browser, with what it asked for and what it said."""

    def __init__(self, browser: Any, address: str, **words: Any) -> None:
        self.requests: list[str] = []
        self.said: list[str] = []
        self.page = browser.new_page(**words)
        self.page.set_default_timeout(WAIT)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(address)

    def lit(self, kind: str, side: str) -> list[str]:
        """The texts of the lines of a side that are lit."""
        return [text.strip() for text in self.page.locator(f'.line[data-side="{side}"].{kind} .row code').all_text_contents()]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    function, args, wrt = SAMPLES["gated"]
    path = tmp_path_factory.mktemp("pages") / "gated.html"
    path.write_text(page_of(facts_of(symgrad.grad(function, wrt), args)), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser: Any, report: str) -> Iterator[Opened]:
    one = Opened(browser, report)
    yield one
    assert one.said == []
    assert one.requests == [report]
    one.page.close()


# ------------------------------------------------------------------ the report


def test_lines_that_belong_together_are_lit_by_pointing(opened: Opened) -> None:
    opened.page.locator(".function .line", has_text="z = w * h + x").locator("code").first.hover()
    assert opened.lit("hot", "f") == ["z = w * h + x"]
    assert opened.lit("hot", "d") == [
        "z = w * h + x",
        "tape[i] = h, z",
        "x_grad += z_grad",
        "w_grad += z_grad.dot(h_1)",
        "h_grad = z_grad * w",
    ]
    assert opened.page.locator(".graph .node.hot").count() == 2

    opened.page.locator(".derivative .line", has_text="z_grad = h_grad * 0.5").locator("code").hover()
    assert opened.lit("hot", "f") == ["h = 0.5 * z"]
    opened.page.mouse.move(1, 1)
    assert opened.lit("hot", "f") == []


def test_a_click_keeps_lines_lit_and_shows_what_was_decided(opened: Opened) -> None:
    line = opened.page.locator(".function .line", has_text="z = w * h + x").first
    notes = line.locator(".notes")
    assert not notes.is_visible()
    line.locator(".row").click()
    opened.page.mouse.move(1, 1)
    assert opened.lit("pinned", "d")
    assert notes.is_visible()
    assert "is saved on a tape in each iteration" in notes.inner_text()
    assert line.get_attribute("aria-expanded") == "true"
    opened.page.locator(".derivative .line", has_text="h_1, z = tape[i]").locator(".row").click()
    assert not notes.is_visible()
    assert opened.lit("pinned", "f") == ["for i in range(n):"]
    opened.page.keyboard.press("Escape")
    assert opened.lit("pinned", "f") == []

    opened.page.get_by_role("button", name="Show all notes").click()
    assert all(one.is_visible() for one in opened.page.locator(".notes").all())
    opened.page.get_by_role("button", name="Hide all notes").click()
    assert not any(one.is_visible() for one in opened.page.locator(".notes").all())


def test_everything_is_done_by_the_keyboard(opened: Opened) -> None:
    keyboard = opened.page.keyboard
    opened.page.locator(".function .line").first.focus()
    for _ in range(3):
        keyboard.press("ArrowDown")
    assert opened.lit("hot", "f") == ["for i in range(n):"]
    keyboard.press("Enter")
    assert opened.page.locator(".function .notes:visible").count() == 1
    keyboard.press("ArrowRight")
    assert opened.page.evaluate("document.activeElement.dataset.side") == "d"
    keyboard.press("ArrowLeft")
    assert opened.page.evaluate("document.activeElement.dataset.side") == "f"
    keyboard.press("Escape")
    assert opened.lit("pinned", "f") == []

    opened.page.locator("#tab-graph").focus()
    keyboard.press("ArrowRight")
    assert opened.page.locator("#tab-ir-panel").is_visible()
    assert not opened.page.locator("#tab-graph-panel").is_visible()
    keyboard.press("End")
    assert opened.page.locator('[role="tab"][aria-selected="true"]').first.inner_text() == "Times"
    keyboard.press("ArrowRight")
    assert opened.page.locator("#tab-graph").get_attribute("aria-selected") == "true"


def test_one_panel_is_shown_at_a_time(opened: Opened) -> None:
    for name in ("ir", "check", "running", "times", "graph"):
        opened.page.locator(f"#tab-{name}").click()
        shown = opened.page.locator('.more > .tabs > [role="tabpanel"]:visible')
        assert shown.count() == 1
        assert shown.get_attribute("id") == f"tab-{name}-panel"
    opened.page.locator("#tab-ir").click()
    opened.page.locator("#stage-adjoint").click()
    assert "-- backward --" in opened.page.locator("#stage-adjoint-panel").inner_text()
    assert not opened.page.locator("#stage-lowered-panel").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1440, "dark"), (900, "light"), (360, "dark")])
def test_no_screen_is_too_narrow(browser: Any, report: str, width: int, scheme: str) -> None:
    one = Opened(browser, report, viewport={"width": width, "height": 800}, color_scheme=scheme)
    one.page.locator(".function .line", has_text="z = w * h + x").locator(".row").click()
    for name in ("graph", "ir", "check", "running", "times"):
        one.page.locator(f"#tab-{name}").click()
        assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    dark = one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 28)"
    assert dark == (scheme == "dark")
    assert one.said == []
    one.page.close()


def test_colours_of_text_can_be_read(browser: Any, report: str) -> None:
    """The contrast of each text with what is behind it is at least 4.5, as WCAG 2.1 has it (success criterion 1.4.3)."""
    measure = """() => {
      const parts = (text) => text.match(/[\\d.]+/g).map(Number);
      const light = (rgb) => { const c = rgb.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
      const behind = (element) => { for (let e = element; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
      const low = [];
      for (const e of document.querySelectorAll("main *")) {
        if (!e.checkVisibility() || e.closest("svg") || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
        const [a, b] = [light(parts(getComputedStyle(e).color).slice(0, 3)), light(behind(e))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) low.push([e.className, e.textContent.slice(0, 20), ((a + 0.05) / (b + 0.05)).toFixed(2)].join(" "));
      }
      return [...new Set(low)];
    }"""
    for scheme in ("light", "dark"):
        one = Opened(browser, report, color_scheme=scheme, reduced_motion="reduce")
        one.page.get_by_role("button", name="Show all notes").click()
        one.page.locator(".function .line", has_text="z = w * h + x").locator(".row").first.click()
        assert one.page.evaluate(measure) == [], scheme
        one.page.close()


def test_paper_shows_what_tabs_hide(browser: Any, report: str) -> None:
    one = Opened(browser, report)
    one.page.emulate_media(media="print")
    assert one.page.locator("#tab-check-panel").is_visible()
    assert one.page.locator("#stage-adjoint-panel").is_visible()
    assert not one.page.locator('[role="tablist"]').first.is_visible()
    one.page.close()


def test_hostile_names_stay_text(browser: Any, tmp_path: Path) -> None:
    for number, name in enumerate(HOSTILE):
        text = f"def f(p):\n    w = p[{name!r}]  # {name!r}\n    return np.sum(w * w)\n"
        function = symgrad.from_source(text, globals={"np": np, "__name__": name})
        path = tmp_path / f"{number}.html"
        path.write_text(page_of(facts_of(symgrad.grad(function), ({name: np.ones(2)},))), encoding="utf-8")
        one = Opened(browser, path.as_uri())
        one.page.locator(".function .line").nth(1).locator(".row").click()
        one.page.mouse.move(200, 200)
        assert one.page.title() == "grad(f) \u2014 symgrad"
        assert one.page.locator("script").count() == 1
        assert one.requests == [path.as_uri()]
        assert one.said == []
        one.page.close()


# ------------------------------------------------------------------ the explorer


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(TEXT, "model.py", wrt="x,w", limit=60.0) as one:
        threading.Thread(target=one.serve_forever, daemon=True).start()
        yield one
        one.shutdown()


@pytest.fixture
def explorer(browser: Any, server: Server) -> Iterator[Opened]:
    one = Opened(browser, server.address)
    one.page.wait_for_selector("body[data-answers]")
    yield one
    assert one.said == []
    assert set(one.requests) <= {server.address, f"{server.address}answer"}
    one.page.close()


def until(explorer: Opened, condition: str) -> None:
    """Wait until an expression of the page holds; the page's policy allows no texts that run, so it is asked again and again."""
    for _ in range(WAIT // 50):
        if explorer.page.evaluate(condition):
            return
        explorer.page.wait_for_timeout(50)
    raise AssertionError(condition)


def typed(explorer: Opened, words: str, answers: int) -> None:
    """Type at the end of the line of ``np.tanh`` and wait for the answer."""
    explorer.page.locator("#text").click(position={"x": 60, "y": 22 * 5 + 11})
    explorer.page.keyboard.press("End")
    explorer.page.keyboard.type(words)
    until(explorer, f"Number(document.body.dataset.answers) >= {answers}")


def test_the_gradient_follows_what_is_typed(explorer: Opened) -> None:
    page = explorer.page
    assert "(1 - h * h)" in page.locator("#derivative").inner_text()
    page.locator("#text").click(position={"x": 60, "y": 22 * 5 + 11})
    page.wait_for_selector('.line[data-side="d"].pinned')
    assert explorer.lit("pinned", "d")
    assert "tanh(x): x_grad = out_grad * (1 - out * out)" in page.locator("#told").inner_text()

    page.keyboard.press("End")
    page.keyboard.type(" * np.cos(w)")
    until(explorer, "document.getElementById('derivative').textContent.includes('np.sin(w)')")
    assert "h = np.tanh(w * h) * np.cos(w)" in page.locator("#backdrop").inner_text()


def test_an_answer_that_takes_long_is_waited_for_visibly(explorer: Opened) -> None:
    page = explorer.page

    def late(route: Any) -> None:
        page.wait_for_selector("#notice .remark >> text=working")
        route.continue_()

    page.route("**/answer", late, times=1)
    page.locator("#wrt").fill("w")
    until(explorer, "document.getElementById('derivative').textContent.includes('return w_grad')")
    assert "working" not in page.locator("#notice").inner_text()
    page.unroute("**/answer")


def test_what_is_wrong_is_told_beside_the_last_gradient(explorer: Opened) -> None:
    typed(explorer, " + (", 2)
    page = explorer.page
    page.wait_for_selector("#notice .problem")
    assert "not Python yet" in page.locator("#notice").inner_text()
    assert page.locator("#derivative.stale").count() == 1
    page.keyboard.type("h)")
    page.wait_for_selector("#derivative:not(.stale)")
    assert page.locator("#notice .problem").count() == 0


def test_another_parameter_and_other_arguments_are_asked_for(explorer: Opened) -> None:
    page = explorer.page
    page.locator("#wrt").fill("w")
    until(explorer, "document.getElementById('derivative').textContent.includes('return w_grad')")
    page.locator("#args").fill("2.0, 0.5")
    until(explorer, "document.getElementById('rest').textContent.includes('x: float')")
    page.locator("#args").fill("open('f')")
    page.wait_for_selector("#notice .problem")
    assert "open is not among the functions that make values" in page.locator("#notice").inner_text()


def test_the_editor_indents_and_lets_the_keyboard_out(explorer: Opened) -> None:
    page = explorer.page
    page.locator("#text").click(position={"x": 60, "y": 22 * 6 + 11})
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("if w > 0:")
    page.keyboard.press("Enter")
    page.keyboard.type("h = h")
    assert "\n        if w > 0:\n            h = h\n" in page.evaluate("document.getElementById('text').value")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "text"


def test_the_tab_that_was_chosen_stays(explorer: Opened) -> None:
    explorer.page.locator("#tab-ir").click()
    explorer.page.locator("#stage-optimized").click()
    typed(explorer, " * 2.0", 2)
    assert explorer.page.locator("#stage-optimized-panel").is_visible()


def test_hostile_texts_stay_text_in_the_explorer(browser: Any) -> None:
    text = (
        "\n".join(f"# {name!r}" for name in HOSTILE)
        + "\ndef f(p):\n"
        + "\n".join(f"    y{k} = p[{name!r}]" for k, name in enumerate(HOSTILE))
        + "\n    return y0 * y1\n"
    )
    with Server(text, HOSTILE[0], args="{" + ", ".join(f"{name!r}: 2.0" for name in HOSTILE) + "}", limit=60.0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        one = Opened(browser, server.address)
        one.page.wait_for_selector("body[data-answers]")
        assert "f_grad" in one.page.locator("#derivative").inner_text()
        assert one.page.locator("script").count() == 2
        assert one.page.title() != "run"
        assert one.said == []
        one.page.close()
        server.shutdown()
