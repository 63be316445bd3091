#!/usr/bin/env python3
"""Prints known texts with real publishing systems, so that the content of each page is known to the letter.

  press.py SCRATCH [--limit N] [--only NAME,NAME]

Reads packages of SCRATCH/sources and of node_modules. Writes SCRATCH/pages/pages.jsonl ({id, url, system, source, page_type,
main_content, with, without, blocks, facts} a page: the form of the training's sets), SCRATCH/pages/html/ID.html and
SCRATCH/licences.tsv. A system that cannot be started is told and left out.
"""
import argparse
import json
import pickle
import re
import shutil
from pathlib import Path

from docutils.core import publish_doctree

from facts import of_doctree, of_markdown
from shown import only_shown
from reference import SIGNATURES, members_of, truth
from sources import find, licences, write_alerts
from systems import SYSTEMS, Tools

FEWEST_MEMBERS = 3


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("scratch", type=Path)
    ap.add_argument("--modules", required=True, help="a folder of packages with README.md")
    ap.add_argument("--limit", type=int, default=120, help="sources of a format at most")
    ap.add_argument("--only", default="", help="names of systems")
    a = ap.parse_args()
    scratch = a.scratch.resolve()
    folders = [scratch / "sources/npm", scratch / "sources/pypi", Path(a.modules).resolve()]
    sources = find(folders, a.limit)
    write_licences(scratch, sources, folders)
    only = set(filter(None, a.only.split(",")))
    pages = scratch / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    (pages / "html").mkdir(parents=True)
    with open(pages / "pages.jsonl", "w", encoding="utf-8") as lines:
        for turn, (name, system) in enumerate(SYSTEMS.items()):
            if not only or name in only or name.split("/")[0] in only:
                print_system(scratch, lines, name, system, take(sources, system, turn))


def write_licences(scratch, sources, folders):
    said = licences(sources, folders)
    (scratch / "licences.tsv").write_text("".join(f"{package}\t{licence}\n" for package, licence in said.items()))
    counts = {form: sum(1 for source in sources if source.format == form) for form in ("md", "rst")}
    print(f"sources: {counts['md']} Markdown, {counts['rst']} reStructuredText of {len(said)} packages", flush=True)


def take(sources, system, turn):
    """Each system starts elsewhere, so that together they print all sources."""
    taken = []
    for form in system.formats:
        able = [s for s in sources if s.format == form and (not system.is_reference or len(members_of(s.text)) >= FEWEST_MEMBERS)]
        start = turn * 7 % max(1, len(able))
        taken += (able[start:] + able[:start])[:system.most]
    return taken


def print_system(scratch, lines, name, system, sources):
    site = scratch / "sites" / name.replace("/", "-")
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    try:
        written = [s._replace(text=write_alerts(s.text, system.form)) if s.format == "md" else s for s in sources]
        printed = system.print_site(Tools(scratch), site, written)
    except Exception as error:
        print(f"{name}: left out: {error}", flush=True)
        return
    texts = {source.name: source for source in sources}
    found = {source: path for source, path in printed.items() if path.is_file()}
    print(f"{name}: {len(found)} of {len(printed)} pages", flush=True)
    for source, path in found.items():
        said = truth_of(name, system, texts[source], site)
        if said is not None:
            write_page(scratch / "pages", lines, (name, source), path, said)


def truth_of(name, system, source, site):
    """-> (blocks, facts); None for what docutils alone cannot read"""
    if system.is_reference:
        return truth(source, SIGNATURES[name.split("/")[0]])
    if source.format == "rst":
        stored = site / "out/.doctrees" / f"{source.name}.doctree"
        if stored.exists():
            return of_doctree(pickle.loads(stored.read_bytes()))
        doctree = publish_doctree(source.text, settings_overrides={"report_level": 5})
        return None if "Unknown " in doctree.pformat() else of_doctree(doctree)
    blocks, facts = of_markdown(source.text)
    if system.form == "bold":
        facts["admonitions"] = []
    return blocks, facts


def write_page(pages, lines, names, path, said):
    system, source = names
    number = f"{system.replace('/', '-')}--{source}"
    html = path.read_text(encoding="utf-8", errors="replace")
    (pages / "html" / f"{number}.html").write_text(html, encoding="utf-8")
    blocks, facts = only_shown(*said, html)
    host = system.replace("/", "-").replace("_", "-")
    aside = path.with_suffix(".beside.json")
    beside = json.loads(aside.read_text()) if aside.is_file() else []
    lines.write(json.dumps({
        "id": number, "url": f"http://{host}.test/{source}", "system": system, "source": source, "page_type": "documentation",
        "main_content": "\n".join(b["text"] for b in blocks), "with": [], "without": [], "blocks": blocks,
        "facts": facts, "beside": beside}) + "\n")


if __name__ == "__main__":
    main()
