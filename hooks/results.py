"""Numbers on hand-written pages, drawn from the records in `results/` at each build.

A page names its record in its front matter, `record: benchmarks/press.json`. On that
page `{{ site.book.ratio | .1f }}` becomes the value in the record under these keys, in
that format. A value that is missing stops the build. A page may have more records,
taken on another machine for instance: with `other_records: {amd: benchmarks/amd.json}`,
the values of that one are under `amd`.

A format such as `<=1.5` is a target. It becomes words that say what was wanted and
whether the record meets it, so that a page goes on telling the truth when a new record
takes the place of the old one.

`{{ table of ppo.pong.seed-1 }}` becomes a table of this run, which opens when its
command is clicked. Its rows are in `run.md`, beside this file, and in `run-best.md` if
the run has kept its best agent. In these, the formats `score` and `points` have as many
digits as it takes to tell scores of this game apart, and `run.time` is in hours or
minutes. The format `command` is for what is typed: code that breaks only between its
words.

In a row of a table, `{{ score of ppo.pong.seed-1 }}` becomes the cells that say what
its agent scores and what it took, and `{{ milestones of ppo.pong.seed-1 }}` those that
say how it was getting on after 1, 2, 4 million frames and so on.

A record of a run has the fingerprints of the modules that made it, as `sources`. To
these is added, as `code`, how many of them have changed since, other than in their
prose. Its command is shown so that it can be repeated, so the folder that its runs were
kept in is left out.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from labml_rl.fingerprint import fingerprint

ANY = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
VALUE = re.compile(r" (?P<keys>[\w./-]+)(?: \| (?P<format>\S+))? ")
OF_A_RUN = re.compile(
    r"\{\{ (?P<what>table|score|milestones) of (?P<keys>[\w./-]+) \}\}"
)
ROWS, ROWS_OF_THE_BEST = (
    Path(__file__).with_name(n) for n in ("run.md", "run-best.md")
)
CELLS = (
    "{{ run.mean | score }} ± {{ run.standard_error | score }} | "
    "{{ run.human_normalised | ,.0% }} | {{ run.frames | , }} | {{ run.hours | .2f }}"
)
# Nobody has said what a human scores.
CELLS_OF_A_SMALL_RUN = (
    "{{ run.mean | score }} ± {{ run.standard_error | score }} | "
    "{{ run.frames | , }} | {{ run.minutes | .1f }}"
)
MILESTONES = ("1", "2", "4", "6", "8", "10", "20", "40")  # millions of frames
LARGE = 100  # a score that is shown without decimals
FIRST = re.compile(r"<tr>(\s*)<td(.*?)</td>", re.DOTALL)
FEW_POINTS = 2
SHORT = 0.1  # hours
KEPT_IN = re.compile(r" --runs[ =]('[^']*'|\"[^\"]*\"|\S+)")
TARGET = re.compile(r"(?P<sign>[<>]=)(?P<limit>-?(?:\d+(?:\.\d*)?|\.\d+))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Watch the records, too, and the rows of the tables."""
    for path in (results_of(config), ROWS, ROWS_OF_THE_BEST):
        if str(path) not in config.watch and path.exists():
            config.watch.append(str(path))
    return config


def on_page_markdown(
    markdown: str, *, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Fill in the values of a page that has a record."""
    name = page.meta.get("record")
    if not name:
        return markdown
    try:
        return fill_in(markdown, record_of(page.meta, results_of(config)))
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {name}: {error}") from error


def on_page_content(
    html: str, *, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """
    Make a header of the first cell of each row. Without that, those who hear a table
    read out hear numbers, but not what they are numbers of.
    """
    return (
        FIRST.sub(r'<tr>\1<th scope="row"\2</th>', html)
        if page.meta.get("record")
        else html
    )


def results_of(config: MkDocsConfig) -> Path:
    """The folder of the records."""
    return Path(config.config_file_path).parent / "results"


def record_of(meta: Mapping[str, Any], folder: Path) -> Any:
    """
    The record that a page names, with the others that it names.

    Args:
        meta: the front matter.
        folder: where the records are.

    Raises:
        ValueError: if one is missing, is not JSON, or has the name of a value.
    """
    record = with_state_of_code(load(folder / str(meta["record"])), folder.parent)
    for name, other in meta.get("other_records", {}).items():
        if name in record:
            raise ValueError(f"{meta['record']} has a `{name}` of its own.")
        record[name] = load(folder / str(other))
    return record


def load(path: Path) -> Any:
    """
    Read a record. Other pages may get the same one, so it must not be changed.

    Raises:
        ValueError: if it is missing, or is not JSON.
    """
    try:
        there = path.stat()
        return loaded(path, there.st_mtime_ns, there.st_size)
    except FileNotFoundError:
        raise ValueError(f"there is no record {path.name}.") from None
    except ValueError as error:
        raise ValueError(f"{path.name} is malformed: {error}.") from None


@cache
def loaded(path: Path, changed: int, size: int) -> Any:
    """What is in a record, kept until the file changes: many pages show the same."""
    return json.loads(path.read_text(encoding="utf-8"))


def with_state_of_code(record: Any, root: Path) -> Any:
    """
    For each part that has `sources`, say whether these are as they were, and take out
    of its command the folder that its runs were kept in.

    Args:
        record: any.
        root: where the source files are.
    """
    if not isinstance(record, dict):
        return record
    parts = {key: with_state_of_code(part, root) for key, part in record.items()}
    if isinstance(sources := record.get("sources"), dict):
        gone = sum(made != made_now(root, name) for name, made in sources.items())
        parts["code"] = f"{gone} of {len(sources)}" if gone else "none"
        if isinstance(command := parts.get("command"), str):
            parts["command"] = KEPT_IN.sub("", command)
    return parts


def on_pre_build(**_: Any) -> None:
    """Look at each module anew."""
    made_now.cache_clear()


@cache
def made_now(root: Path, name: str) -> str:
    """
    The fingerprint of a module, or nothing if there is no such file, or it is not
    Python. Many runs share modules, and a build looks at each of these once.
    """
    path = root / name
    try:
        there = path.stat()
    except OSError:
        return ""
    return made_of(path, there.st_mtime_ns, there.st_size)


@cache
def made_of(path: Path, changed: int, size: int) -> str:
    """
    The fingerprint of a file, kept until the file changes: a server builds the pages
    again and again.
    """
    try:
        return fingerprint(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        # It is gone, or the press says what is wrong, and where.
        return ""


def fill_in(markdown: str, record: Any) -> str:
    """
    Replace each `{{ … }}` with its value, or with the table or the cells of a run.

    Args:
        markdown: a page.
        record: its record.

    Raises:
        ValueError: if a value is missing, or can't be shown in the format asked for.
    """
    markdown = OF_A_RUN.sub(
        lambda match: OF[match["what"]](match["keys"], record), markdown
    )

    def value(match: re.Match[str]) -> str:
        asked = VALUE.fullmatch(match[1])
        if not asked:
            raise ValueError(
                f"`{match[0]}` names no value. Write `{{{{ key.key }}}}`, "
                "with ` | format` if need be."
            )
        found = look_up(record, asked["keys"])
        try:
            return shown(found, asked["format"] or "")
        except (ValueError, TypeError):
            raise ValueError(
                f"`{match[0]}`: {found!r} has no format `{asked['format']}`."
            ) from None

    return ANY.sub(value, markdown)


def table_of(keys: str, record: Any) -> str:
    """
    The table of a run, before its values are filled in.

    Raises:
        ValueError: if there is no such run.
    """
    rows = ROWS.read_text(encoding="utf-8")
    run = run_of(record, keys)
    if "best" in run:
        rows += ROWS_OF_THE_BEST.read_text(encoding="utf-8")
    short = run.get("hours", 1.0) < SHORT
    time = "{{ run.minutes | .1f }} minutes" if short else "{{ run.hours | .2f }} hours"
    rows = rows.replace("{{ run.time }}", time)
    return of_the_run(rows, keys, run) + "\n</details>"


def score_of(keys: str, record: Any) -> str:
    """
    What a run has come to, as cells, before their values are filled in.

    Raises:
        ValueError: if there is no such run.
    """
    run = run_of(record, keys)
    cells = CELLS if "human_normalised" in run else CELLS_OF_A_SMALL_RUN
    return of_the_run(cells, keys, run)


def milestones_of(keys: str, record: Any) -> str:
    """
    How a run was getting on, as cells. Those of milestones that it has not reached are
    empty.

    Raises:
        ValueError: if there is no such run.
    """
    reached = find(record, f"{keys}.on_the_way")
    cells = (
        shown(score, ".1f" if abs(score) < LARGE else ",.0f")
        if (score := reached.get(each)) is not None
        else ""
        for each in MILESTONES
    )
    return " | ".join(cells)


OF = {"table": table_of, "score": score_of, "milestones": milestones_of}


def run_of(record: Any, keys: str) -> dict[str, Any]:
    """The run under these keys, or nothing if what is there is no run."""
    run = find(record, keys)
    return run if isinstance(run, dict) else {}


def of_the_run(rows: str, keys: str, run: Mapping[str, Any]) -> str:
    """Rows in which `run` is the run under these keys, with the digits it needs."""
    few = all(abs(run.get(key, 0.0)) < FEW_POINTS for key in ("lowest", "highest"))
    for name, wanted in (("score", ",.1f"), ("points", ",.0f")):
        rows = rows.replace(f"| {name} }}}}", f"| {'.2g' if few else wanted} }}}}")
    return rows.replace("{{ run.", f"{{{{ {keys}.")


def shown(found: str | int | float, wanted: str) -> str:
    """
    A value in a format, against a target, or as a command.

    Raises:
        ValueError: if it has no such format.
    """
    if wanted == "command":
        # Where it runs over several lines, none of its words is cut in two.
        spans = " ".join(f"<span>{escape(each)}</span>" for each in str(found).split())
        return f'<code class="book-command">{spans}</code>'
    target = TARGET.fullmatch(wanted)
    if not target:
        words = format(found, wanted)
        return words if isinstance(found, str) else words.replace("-", "−")
    number, limit = float(found), float(target["limit"])
    at_most = target["sign"] == "<="
    met = number <= limit if at_most else number >= limit
    bound = "at most" if at_most else "at least"
    words = f"{limit:,.10g}".replace("-", "−")
    return f"{bound} {words} ({'met' if met else '**missed**'})"


def look_up(record: Any, keys: str) -> str | int | float:
    """The single value under these keys."""
    found = find(record, keys)
    if isinstance(found, bool):
        return "yes" if found else "no"
    if not isinstance(found, str | int | float):
        raise ValueError(f"`{keys}` is not a single value.")
    return found


def find(record: Any, keys: str) -> Any:
    """What is under `one.key.after.the.other`. Keys have no dots in them."""
    found = record
    for key in keys.split("."):
        if not isinstance(found, dict) or key not in found:
            raise ValueError(f"there is no `{keys}`: `{key}` is missing.")
        found = found[key]
    return found
