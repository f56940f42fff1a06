"""What search engines, feeds and posts see of a page."""

import gzip
import html
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from xml.etree import ElementTree

import pytest
import yaml
from mkdocs.config import load_config
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.site.conftest import ROOT
from tests.site.test_pages import all_pages

IMPORTED = r"^(?:import|from) (\w+)"
NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def attribute(text, pattern):
    found = re.findall(pattern, text)
    assert len(found) == 1, (pattern, found)
    return html.unescape(found[0])


def test_each_page_says_what_it_is(site):
    descriptions = {}
    for name in all_pages(site):
        text = (site / name).read_text(encoding="utf-8")
        title = attribute(text, r"<title>([^<]+)</title>")
        description = attribute(text, r'<meta name="description" content="([^"]+)"')
        canonical = attribute(text, r'<link rel="canonical" href="([^"]+)"')
        assert canonical.endswith(f"/{name}"), canonical
        assert attribute(text, r'property="og:url" content="([^"]+)"') == canonical
        assert attribute(text, r'property="og:title" content="([^"]+)"') in title
        assert attribute(text, r'property="og:description" content="([^"]+)"') == (
            description
        )
        assert "$" not in description, "no TeX where nothing sets it"
        descriptions[name] = description
    assert len(set(descriptions.values())) == len(descriptions), "each page has its own"


def test_the_picture_of_a_post_exists(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    url = attribute(text, r'property="og:image" content="([^"]+)"')
    home = attribute(text, r'<link rel="canonical" href="([^"]+)"')
    assert (site / url.removeprefix(home.removesuffix("index.html"))).is_file(), url


def test_the_sitemap_names_each_page(site):
    plain = (site / "sitemap.xml").read_bytes()
    assert gzip.decompress((site / "sitemap.xml.gz").read_bytes()) == plain
    tree = ElementTree.fromstring(plain)
    assert tree.tag == f"{NAMESPACE}urlset"
    named = {loc.text for loc in tree.iter(f"{NAMESPACE}loc")}
    canonical = {
        attribute(
            (site / name).read_text(encoding="utf-8"),
            r'<link rel="canonical" href="([^"]+)"',
        )
        for name in all_pages(site)
    }
    assert named == canonical


def test_whoever_publishes_the_site_sets_its_address(site, monkeypatch):
    """All that is told to others begins with the address that the settings have."""
    settings = str(ROOT / "mkdocs.yml")
    address = load_config(settings).site_url
    for name in all_pages(site):
        text = (site / name).read_text(encoding="utf-8")
        for kind in ("url", "image"):
            shared = attribute(text, rf'property="og:{kind}" content="([^"]+)"')
            assert shared.startswith(address)
        canonical = attribute(text, r'<link rel="canonical" href="([^"]+)"')
        assert canonical == f"{address}{name}"
    monkeypatch.setenv("SITE_URL", "https://example.org/book/")
    assert load_config(settings).site_url == "https://example.org/book/"


def test_what_is_cited_is_what_is_released():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == project["project"]["version"]
    # Several would mean: any of them.
    assert cited["license"] == project["project"]["license"].partition(" AND ")[0]
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith(cited["license"])


def test_each_licence_is_with_what_it_is_for():
    ours = (ROOT / "LICENSE").read_bytes()
    assert (ROOT / "sidebyside" / "assets" / "LICENSE").read_bytes() == ours
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert "[`LICENSE`](assets/sidebyside/LICENSE)" in page
    shim = ROOT / "docs" / "assets" / "javascripts" / "iframe-worker-LICENSE"
    assert "Permission is hereby granted" in shim.read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = (set(ROOT.glob(pattern)) for pattern in project["project"]["license-files"])
    assets = ROOT / "sidebyside" / "assets"
    copies = {assets / "LICENSE"}
    assert set.union(*found) == {ROOT / "LICENSE", *assets.rglob("LICENSE")} - copies


def test_the_press_needs_no_more_in_a_mkdocs_that_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = project["project"]["optional-dependencies"]["press"]
    listed = {canonicalize_name(Requirement(each).name) for each in needed}
    made_by = metadata.packages_distributions()
    used = {
        canonicalize_name(made_by[name][0])
        for file in (ROOT / "sidebyside").glob("*.py")
        for name in re.findall(IMPORTED, file.read_text(encoding="utf-8"), re.MULTILINE)
        if name in made_by and name != "sidebyside"
    }
    # MkDocs brings watchdog along, and mkdocstrings griffe.
    assert used - {"mkdocs", "watchdog", "griffelib"} <= listed


def test_what_is_pinned_takes_every_python_that_the_project_takes():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lowest = project["project"]["requires-python"].removeprefix(">=") + ".0"
    installed = {canonicalize_name(d.name): d for d in metadata.distributions()}
    checked = 0
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        pin = Requirement(line.partition("#")[0] or "nothing")
        found = installed.get(canonicalize_name(pin.name))
        for_lowest = {"python_full_version": lowest}
        if pin.marker and not pin.marker.evaluate(for_lowest):
            continue
        if found and found.version in pin.specifier:
            takes = SpecifierSet(found.metadata["Requires-Python"] or "")
            assert lowest in takes, f"{pin.name} wants Python {takes}"
            checked += 1
    assert checked > 20


@pytest.mark.parametrize("entry", ["index.md", "gone.md"])
def test_make_docs_stops_at_a_warning(tmp_path, entry):
    """The command of the Makefile, on a site whose menu leads nowhere."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (command,) = re.findall(r"\t(.*\$\(BIN\)/mkdocs build .*)", makefile)
    (tmp_path / "mkdocs.yml").write_text(f"site_name: S\nnav: [index.md, A: {entry}]\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n")
    python = f"{shlex.quote(sys.executable)} -m "
    done = subprocess.run(
        command.replace("$(BIN)/", python),
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode == 0) == (entry == "index.md"), done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_an_environment_without_pip_gets_one(tmp_path):
    """Such as one that uv has made."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    venv.create(tmp_path / ".venv", symlinks=True, with_pip=False)
    pip = tmp_path / ".venv" / "bin" / "pip"
    assert not pip.exists()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    plan = ["make", "--dry-run", ".venv/docs"]
    said = subprocess.run(
        plan, cwd=tmp_path, check=True, capture_output=True, text=True
    )
    installs = "pip install --quiet"
    assert said.stdout.index("ensurepip") < said.stdout.index(installs)
    subprocess.run(["make", ".venv/bin/pip"], cwd=tmp_path, check=True)
    subprocess.run([pip, "--version"], check=True)


def test_what_is_shown_beside_the_code_leads_somewhere():
    """Where a reader finds it first. No build of the site looks at it there."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    here = {each.partition("#")[0] for each in links if "://" not in each}
    assert len(here) > 4
    assert not [each for each in here if not (ROOT / each).exists()]
