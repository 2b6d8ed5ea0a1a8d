"""What the pages say of the repository is so, and their site builds; `./dev docs` asks the same."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
import widthwise as ww

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
ROOMS = ["lib", "sim", "cuda", "hdl_export", "python", "tests"]
DECISION = r"\b[A-Z]\d+\b"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_repository_leads_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    local = [target for target in targets if not re.match(r"[a-z]+:", target)]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_command_of_dev_that_a_page_names_exists():
    help_text = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True)
    tasks = set(re.findall(r"^  ([a-z-]+)", help_text.stdout, re.MULTILINE))
    named = {task for page in PAGES for task in re.findall(r"\./dev ([a-z-]+)", page.read_text())}
    assert named
    assert named - tasks == set()


def test_every_decision_the_code_cites_is_in_the_semantics():
    defined = set(re.findall(DECISION, (ROOT / "docs" / "semantics.md").read_text()))
    cited = {
        (str(path.relative_to(ROOT)), decision)
        for room in ROOMS
        for path in (ROOT / room).rglob("*.*")
        if path.suffix in {".cpp", ".hpp", ".cu", ".cuh", ".py"}
        for citation in re.findall(r"semantics\.md[^)\n]*\)", path.read_text())
        for decision in re.findall(DECISION, citation)
    }
    assert cited
    assert {(file, decision) for file, decision in cited if decision not in defined} == set()


def test_every_error_that_a_page_quotes_is_raised_by_an_example_that_runs():
    """test_guides.py runs the examples, and compares the whole message."""
    error = re.compile(r"^(?:\w+Error: .+|widthwise: .+)$", re.MULTILINE)
    quoted = {text for page in PAGES for text in error.findall(page.read_text())}
    guides = "".join(page.read_text() for page in ROOT.glob("docs/**/*.md"))
    examples = re.findall(r"^```python\n(>>> .*?)^```$", guides, re.MULTILINE | re.DOTALL)
    raised = {text for example in examples for text in error.findall(example)}
    assert quoted
    assert quoted - raised == set()


@pytest.mark.parametrize(
    ("guide", "words"),
    [
        ("torch", r"Forward mode .* under `torch.compile`"),
        ("torch", "Exponentials in a format"),
        ("tensorflow", r"XLA: `tf.function\(jit_compile=True\)` stops"),
        ("onnx", "A TensorRT plugin"),
    ],
)
def test_what_frameworks_have_not_is_said_in_their_guides(guide, words):
    page = (ROOT / f"docs/guides/{guide}.md").read_text()
    _, _, lacking = page.partition("## What is not had")
    assert re.search(words, lacking)


CODE = re.compile(r"^```(?:python|cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_code_of_a_page_is_wider_than_the_site(page):
    """docs/_static/widthwise.css makes room for 104 columns, and lets commands wrap."""
    lines = [line for block in CODE.findall(page.read_text()) for line in block.splitlines()]
    assert [line for line in lines if len(line) > 104] == []


# --- The site -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built with warnings as errors: a page in no list, a link or an anchor that leads nowhere."""
    folder = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", ROOT / "docs", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


class Links(HTMLParser):
    """What a page names: its anchors, what it links to, what it loads."""

    def __init__(self, page):
        super().__init__()
        self.anchors, self.targets, self.loaded = set(), set(), set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.anchors.add(named.get("id"))
        if tag == "a":
            self.targets.add(named.get("href") or "")
        elif tag in ("link", "script", "img"):
            self.loaded.add(named.get("href") or named.get("src") or "")


def test_every_link_of_the_site_leads_to_a_page_and_an_anchor_in_it(site):
    pages = {page: Links(page) for page in site.rglob("*.html")}
    broken = []
    for page, links in pages.items():
        for target in links.targets:
            path, _, anchor = target.partition("#")
            there = (page.parent / unquote(path)).resolve() if path else page
            if re.match(r"[a-z]+:", target):
                continue
            if not there.exists() or (
                anchor and there in pages and anchor not in pages[there].anchors
            ):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert len(pages) > 12 and sorted(broken) == []


def test_no_sentence_of_the_site_prints_as_a_quotation(site):
    """A line that begins with '>', as '>= 2^k' does where a sentence is broken, opens one."""
    quotations = re.compile(r"<blockquote[^>]*>\s*(?:<div>)?(.{0,80})", re.DOTALL)
    found = {
        f"{page.relative_to(site)}: {text}"
        for page in site.rglob("*.html")
        for text in quotations.findall(page.read_text())
    }
    assert found == set()


def test_the_page_of_notebooks_tells_what_each_one_shows():
    page = (ROOT / "docs" / "notebooks.md").read_text()
    rows = set(re.findall(r"^\| {doc}`/notebooks/(\w+)` \|.{40,}", page, re.MULTILINE))
    assert rows == {notebook.stem for notebook in (ROOT / "notebooks").glob("*.ipynb")}


def test_the_site_loads_nothing_from_elsewhere(site):
    loaded = {target for page in site.rglob("*.html") for target in Links(page).loaded}
    assert [target for target in loaded if re.match(r"(https?:)?//", target)] == []


def test_every_public_name_is_on_the_site(site):
    anchors = Links(site / "api.html").anchors
    named = {f"widthwise.{name}" for name in set(ww.__all__) - {"study"}}
    named |= {f"widthwise.study.{name}" for name in ww.study.__all__}
    assert named - anchors == set()
