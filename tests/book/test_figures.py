"""Figures of what several runs have learned are what their records say."""

import json
import re
import sys

import pytest

from benchmarks.record import ROOT
from figures import lag, sketches, tricks


@pytest.mark.parametrize(
    ("figure", "variant", "name"),
    [(tricks, "all", "speed-tricks.svg"), (lag, "nothing_16", "impala-lag.svg")],
)
def test_a_figure_says_what_the_record_says(
    figure, variant, name, monkeypatch, tmp_path
):
    monkeypatch.setattr(sys, "argv", [figure.__name__, "--check"])
    figure.main()
    record = json.loads(figure.RECORD.read_text())
    record["variants"][variant]["curves"]["1"][-1] += 0.5
    monkeypatch.setattr(figure, "RECORD", tmp_path / "record.json")
    figure.RECORD.write_text(json.dumps(record))
    with pytest.raises(SystemExit, match=name.replace(".", r"\.")):
        figure.main()


def test_sketches_are_what_their_program_draws(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["figures.sketches", "--check"])
    sketches.main()
    monkeypatch.setattr(sketches, "HIGH", 45)
    with pytest.raises(SystemExit, match=r"agent-and-game\.svg"):
        sketches.main()


def test_make_figures_draws_all_but_pictures_of_the_site():
    made = re.findall(r"-m figures\.(\w+)", (ROOT / "Makefile").read_text())
    programs = {each.stem for each in (ROOT / "figures").glob("[!_]*.py")}
    assert programs - {*made} == {"drawing", "example", "site"}, (
        "it has to be in the Makefile"
    )
