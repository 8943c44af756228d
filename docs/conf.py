"""How Sphinx builds the site: ``python -m sphinx -W -b html docs OUT``, without a network (decision 86)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent), str(DOCS / "_extensions")]

import symgrad  # noqa: E402

project = "symgrad"
author = "the authors of symgrad"
copyright = author
version = release = symgrad.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "blocks", "sphinx_gallery.gen_gallery"]
exclude_patterns = [
    "_build",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.md5",
    "gallery/*.json",
    "sg_execution_times.rst",
    "*/sg_execution_times.rst",
]
myst_heading_anchors = 3
highlight_language = "none"

# the page of errors has its notices one level lower
suppress_warnings = ["myst.header"]

# a notebook without outputs is executed; an error in it ends the build
nb_execution_mode = "auto"
nb_execution_raise_on_error = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("Axes", "Jit", "Mode", "Stage", "Verify", "Wrt")}
maximum_signature_line_length = 80

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 1e9,
}

html_theme = "furo"
html_title = f"symgrad {release}"
html_static_path = ["_static"]
html_css_files = ["symgrad.css"]
html_copy_source = False
html_show_sourcelink = False

#: the line of index.md in whose place the pages stand that it does not name
OTHERS = "<!-- other pages -->"


def other_pages(app: Sphinx, name: str, content: list[str]) -> None:
    """Put the pages that the index does not name into the list of guides: a new page only needs to exist."""
    if name == "index":
        listed = set(re.findall(r"^(?:.* <)?([\w/]+)>?$", content[0], re.MULTILINE))
        pages = sorted(page.stem for page in DOCS.glob("*") if page.suffix in (".md", ".ipynb"))
        content[0] = content[0].replace(OTHERS, "\n".join(page for page in pages if page not in {*listed, "index"}))


def analyze_without_overloads(analyzer: ModuleAnalyzer) -> None:
    """Read a module as Sphinx does, and forget overloads: the page shows all keywords of a function, in one signature."""
    ANALYZE(analyzer)
    analyzer.overloads = {}


ANALYZE = ModuleAnalyzer.analyze
ModuleAnalyzer.analyze = analyze_without_overloads


def setup(app: Sphinx) -> None:
    """What Sphinx calls."""
    app.connect("source-read", other_pages)
