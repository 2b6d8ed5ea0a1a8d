"""What the pages say of the repository is so. `./dev docs` runs this file alone."""

import re
import subprocess
from pathlib import Path

import pytest

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
