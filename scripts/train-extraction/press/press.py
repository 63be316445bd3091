#!/usr/bin/env python3
"""Prints known texts with real publishing systems, so that the content of each page is known to the letter.

  press.py SCRATCH --sources DIR [--limit N] [--only NAME,NAME]

Writes SCRATCH/pages/pages.jsonl ({id, url, system, source, page_type, main_content, with, without, blocks} a page: the
form of the training's sets) and SCRATCH/pages/html/ID.html. A system that cannot be started is told and left out.
"""
import argparse
import json
import shutil
from pathlib import Path

from sources import blocks_of, find
from systems import SYSTEMS, Tools


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("scratch", type=Path)
    ap.add_argument("--sources", required=True, help="a folder of packages with README.md")
    ap.add_argument("--limit", type=int, default=40, help="sources at most")
    ap.add_argument("--only", default="", help="names of systems")
    a = ap.parse_args()
    scratch = a.scratch.resolve()
    sources = find(a.sources, a.limit)
    texts = dict(sources)
    only = set(filter(None, a.only.split(",")))
    pages = scratch / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    (pages / "html").mkdir(parents=True)
    with open(pages / "pages.jsonl", "w", encoding="utf-8") as lines:
        for system, print_site in SYSTEMS.items():
            if only and system not in only:
                continue
            site = scratch / "sites" / system.replace("/", "-")
            shutil.rmtree(site, ignore_errors=True)
            site.mkdir(parents=True)
            try:
                printed = print_site(Tools(scratch), site, sources)
            except Exception as error:
                print(f"{system}: left out: {error}", flush=True)
                continue
            found = {name: path for name, path in printed.items() if path.exists()}
            print(f"{system}: {len(found)} of {len(printed)} pages", flush=True)
            for name, path in found.items():
                write_page(lines, pages, system, name, path, texts[name])


def write_page(lines, pages, system, name, path, text):
    number = f"{system.replace('/', '-')}--{name}"
    shutil.copy(path, pages / "html" / f"{number}.html")
    blocks = blocks_of(text)
    host = system.replace("/", "-").replace("_", "-")
    lines.write(json.dumps({
        "id": number, "url": f"http://{host}.test/{name}", "system": system, "source": name, "page_type": "documentation",
        "main_content": "\n".join(b["text"] for b in blocks), "with": [], "without": [], "blocks": blocks}) + "\n")


if __name__ == "__main__":
    main()
