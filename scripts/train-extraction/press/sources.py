"""The texts that are printed: README files of packages, without what systems read in different ways."""
import re
from pathlib import Path

from markdown_it import MarkdownIt

FEWEST_WORDS = 120
MOST_CHARACTERS = 40_000
# Templates of Hexo and Vue would read these as their own.
TEMPLATE = re.compile(r"\{\{|\{%|<%|:::")
WORD = re.compile(r"\w+")
PARSER = MarkdownIt("commonmark").enable("table")


def find(directory, limit):
    """-> [(name, Markdown)], one README a package, in the order of their names"""
    found = []
    for path in sorted(Path(directory).glob("*/README.md")) + sorted(Path(directory).glob("@*/*/README.md")):
        text = tidy(path.read_text(encoding="utf-8", errors="replace")[:MOST_CHARACTERS])
        name = re.sub(r"\W+", "-", str(path.parent.relative_to(directory))).strip("-").lower()
        if not TEMPLATE.search(text) and len(WORD.findall(text)) >= FEWEST_WORDS:
            found.append((name, text))
    step = max(1, len(found) // limit)
    return found[::step][:limit]


def tidy(text):
    """Markdown without HTML, badges and comments; it starts with a heading of level 1."""
    fences = re.split(r"(^```.*?^```\s*$)", text, flags=re.M | re.S)
    for index in range(0, len(fences), 2):
        part = re.sub(r"<!--.*?-->", "", fences[index], flags=re.S)
        part = re.sub(r"</?[a-zA-Z][^>]{0,500}>", "", part)
        # Only some systems read GitHub's admonitions.
        part = re.sub(r"^> \[!(\w+)\]", r"> **\1**\n>", part, flags=re.M)
        fences[index] = re.sub(r"\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])(?:\]\([^)]*\)|\]\[[^\]]*\])?", "", part)
    text = "".join(fences).strip() + "\n"
    first = next((line for line in text.split("\n") if line.strip()), "")
    return text if first.startswith("# ") else f"# Read me first\n\n{text}"


def blocks_of(text):
    """-> [{kind, text}] of every block a reader sees, in order"""
    blocks, kind = [], "paragraph"
    for token in PARSER.parse(text):
        opened = re.fullmatch(r"(heading|list_item|td|th|blockquote|paragraph)_open", token.type)
        if opened and not (opened[1] == "paragraph" and kind in ("list_item", "blockquote")):
            kind = opened[1]
        if re.fullmatch(r"(heading|list_item|td|th|blockquote)_close", token.type):
            kind = "paragraph"
        if token.type == "inline":
            shown = "".join(" " if c.type in ("softbreak", "hardbreak") else c.content for c in token.children if c.type != "image")
            blocks.append({"kind": kind, "text": shown})
        elif token.type in ("fence", "code_block"):
            blocks.append({"kind": "code", "text": token.content})
    return [b for b in blocks if WORD.search(b["text"])]
