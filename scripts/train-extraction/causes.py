#!/usr/bin/env python3
"""Counts why dates and bylines are missed: where the right value stands in the saved page; see README.md.

  causes.py OUT SET=DIR ... [--list FILE]

Reads what dump-metadata.ts wrote to OUT. `--list` names a file for one line of each miss.
"""
import argparse
import html
import json
import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import metadata

MONTHS = "january february march april may june july august september october november december".split()
SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.I | re.S)
TAGS = re.compile(r"<style\b.*?</style>|<!--.*?-->|<[^>]*>", re.I | re.S)


def parts_of(page):
    """-> the places where a page can state a value, the most explicit first"""
    scripts = SCRIPT.findall(page)
    rest = SCRIPT.sub(" ", page)
    marked = [(name, [html.unescape(m) for m in found]) for name, found in (
        ("JSON-LD", [text for kind, text in scripts if "ld+json" in kind]),
        ("meta", re.findall(r"<meta\b[^>]*>", rest, re.I)),
        ("time", re.findall(r"<time\b[^>]*>.*?</time>", rest, re.I | re.S)),
    )]
    shown = ("text", [html.unescape(TAGS.sub(" ", rest))])
    return [*marked, shown, ("script", [text for kind, text in scripts if "ld+json" not in kind]), ("attribute", [rest])]


def forms_of(day):
    """-> a pattern of the ways to write a day"""
    y, m, d = (int(n) for n in day.split("-"))
    month = f"(?:{MONTHS[m - 1]}|{MONTHS[m - 1][:3]}|sept?)" if m == 9 else f"(?:{MONTHS[m - 1]}|{MONTHS[m - 1][:3]})"
    year = f"(?:{y}|['’]?{y % 100:02})"
    return re.compile(rf"(?<!\d)(?:{y}[-/.]?0?{m}[-/.]?0?{d}|{month}\.?,?\s+0?{d}(?:st|nd|rd|th)?,?\s+{year}|0?{d}(?:st|nd|rd|th|\.)?"
                      rf"[\s-](?:of )?{month}\.?,?[\s-]{year}|0?{m}[-/.]0?{d}[-/.]{year}|0?{d}[-/.]0?{m}[-/.]{year})(?!\d)", re.I)


def place_of_day(parts, day, url):
    pattern = forms_of(day)
    found = [name for name, texts in parts if any(pattern.search(t) for t in texts)]
    if found:
        return found[0]
    if re.search(day.replace("-", r"\W?"), url):
        return "URL"
    near = [forms_of((date.fromisoformat(day) + timedelta(n)).isoformat()) for n in (-1, 1)]
    if any(other.search(t) for other in near for name, texts in parts if name != "attribute" for t in texts):
        return "a day off"
    y, m, d = (int(n) for n in day.split("-"))
    if re.search(rf"(?:{MONTHS[m - 1]}|\b{MONTHS[m - 1][:3]})\.?,?\s+{y}", parts[3][1][0], re.I):
        return "month alone"
    if re.search(rf"{MONTHS[m - 1][:3]}\w*\.?\s+0?{d}\b(?!,?\s+\d{{4}})", parts[3][1][0], re.I):
        return "day without year"
    return "nowhere"


def place_of_name(parts, name, _):
    wanted = metadata.words(name)
    for place, texts in parts:
        if any(f" {wanted} " in f" {metadata.words(t)} " for t in texts):
            return place
    everything = f" {metadata.words(' '.join(t for _, texts in parts[:5] for t in texts))} "
    if all(f" {w} " in everything for w in wanted.split()):
        return "in pieces"
    return "nowhere"


PLACES = {"dates": place_of_day, "bylines": place_of_name}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=Path)
    ap.add_argument("sets", nargs="+", help="NAME=DIRECTORY")
    ap.add_argument("--list", type=argparse.FileType("w"))
    a = ap.parse_args()
    directories = {name: Path(directory) for name, directory in (s.split("=", 1) for s in a.sets)}
    truth = metadata.read_truth(directories)
    for name, place_of in PLACES.items():
        kind = metadata.Kind(name, a.out, truth)
        p = kind.out_of_fold()
        metadata.report(kind, kind.score(p, metadata.THRESHOLDS[name]))
        counts = Counter()
        for page in kind.pages:
            if page["outcome"] not in ("wrong", "missing"):
                continue
            saved = (directories[page["set"]] / "html" / f"{page['id']}.html").read_text(errors="replace")
            gold = metadata.day(page["gold"]) if name == "dates" else page["gold"]
            place = place_of(parts_of(saved), gold, page["url"])
            own = p[page["start"]:page["end"]]
            best = page["texts"][int(own.argmax())] if len(own) else ""
            chosen = "candidate" if page["possible"] else "no candidate"
            form = ""
            if name == "bylines" and page["outcome"] == "wrong":
                one, other = metadata.words(best).split(), metadata.words(gold).split()
                form = "other form" if set(one) & set(other) else "another name"
            counts[page["outcome"], chosen, place, form] += 1
            if a.list:
                print(name, page["outcome"], chosen, place, form, page["id"], page["type"], page["url"][:80], "|", gold, "|",
                      f"{own.max() if len(own) else 0:.2f}", best[:80], file=a.list)
        for key, count in counts.most_common():
            print(f"  {count:4} ", " · ".join(k for k in key if k))


if __name__ == "__main__":
    main()
