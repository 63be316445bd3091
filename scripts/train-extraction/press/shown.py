"""What a printed page shows. A fact of the source counts only where the page shows it: systems drop languages, flatten lists
that they read in another way, and put titles where an author wrote a reference."""
import re
import unicodedata

from lxml import html as parser

from facts import nothing

BLOCKS = frozenset("ul ol dl pre table blockquote div p h1 h2 h3 h4 h5 h6 details section figure".split())
REMARK = re.compile(r"admonition|alert|aside|callout|custom-block|note|tip|important|warning|caution|danger|hint|attention")
UNSEEN = ("script", "style", "template", "noscript")
ALIASES = {"js": "javascript", "javascript": "js", "ts": "typescript", "typescript": "ts", "sh": "bash|shell|console", "shell": "bash|sh",
           "bash": "sh|shell", "py": "python", "yml": "yaml", "console": "shell-session|bash", "html": "xml|htm", "md": "markdown"}


def words(text):
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower().replace("_", " ")))


def code_key(text):
    return re.sub(r"[ \t]+$", "", text, flags=re.M).strip("\n")


def only_shown(blocks, facts, page):
    """-> (blocks, facts) without what the page does not show"""
    root = parser.fromstring(page.encode(), parser=parser.HTMLParser(encoding="utf-8"))
    for unseen in root.iter(*UNSEEN):
        tail = unseen.tail
        unseen.clear()
        unseen.tail = tail
    text = f" {words(' '.join(root.itertext()))} "
    joined = text.replace(" ", "")
    shown = facts_of(root)
    signatures = [s for s in facts["signatures"] if words(s).replace(" ", "") in joined]
    remarks = [words(e.text_content()) for e in root.iter("div", "aside", "blockquote", "table") if is_remark(e)]
    kept = nothing() | {"signatures": signatures, "admonitions": [
        a for a in facts["admonitions"] if words(a["text"]) and any(words(a["text"]) in remark for remark in remarks)]}
    for kind, key in KEYS.items():
        there = {key(fact) for fact in shown[kind]}
        kept[kind] = [fact for fact in facts[kind] if key(fact) in there]
    named = {KEYS["code"](fact): fact["language"] for fact in shown["code"]}
    for code in kept["code"]:
        spellings = f"{re.escape(code['language'])}|{ALIASES.get(code['language'], '-')}"
        said = named.get(KEYS["code"](code), "")
        if not code["language"] or not re.search(rf"(?i)(?:^|[\s\"-])(?:{spellings})(?:$|[\s\"-])", said):
            code["language"] = ""
    blocks = [b for b in blocks if f" {words(b['text'])} " in text or words(b["text"]).replace(" ", "") in joined]
    return blocks, kept


def is_remark(element):
    """A page's own frame may be named `has-aside`; it holds the headings of the page."""
    return REMARK.search(element.get("class") or "") and next(element.iter("h1", "h2"), None) is None


def row_key(rows):
    return tuple(tuple(words(cell) for cell in row) for row in rows)


KEYS = {
    "code": lambda fact: code_key(fact["text"]),
    "tables": row_key,
    "headings": lambda fact: words(fact["text"]),
    "items": lambda fact: (fact["depth"], words(fact["text"])),
    "links": lambda fact: (words(fact["text"]), fact["target"].rstrip("/")),
}


def facts_of(root):
    shown = nothing()
    for pre in root.iter("pre"):
        around = [pre, *pre.iter("code"), *list(pre.iterancestors())[:4]]
        language = " ".join(f"{e.get('class', '')} {e.get('data-lang', '')} {e.get('data-language', '')}" for e in around)
        shown["code"].append({"text": text_of_code(pre), "language": language})
    for table in root.iter("table"):
        rows = [[cell.text_content() for cell in row.iterchildren("td", "th")] for row in table.iter("tr")]
        # Rows of pictures are empty once these are gone.
        if all(any(words(cell) for cell in row) for row in rows):
            shown["tables"].append(rows)
    for level in range(1, 7):
        shown["headings"] += [{"text": h.text_content()} for h in root.iter(f"h{level}")]
    for item in root.iter("li"):
        shown["items"].append({"text": first_text(item), "depth": len(list(item.iterancestors("ul", "ol")))})
    for link in root.iter("a"):
        shown["links"].append({"text": link.text_content(), "target": link.get("href") or ""})
    return shown


def text_of_code(pre):
    lines = []
    for node in pre.iter():
        if node.tag == "br":
            lines.append("\n")
        elif isinstance(node.tag, str):
            if node.tag == "div" and lines and not lines[-1].endswith("\n"):
                lines.append("\n")
            lines.append(node.text or "")
        if node is not pre:
            lines.append(node.tail or "")
    return "".join(lines)


def first_text(item):
    """The text before the first block, or that of the first paragraph."""
    text = item.text or ""
    for child in item:
        if child.tag in BLOCKS:
            return child.text_content() if child.tag == "p" and not text.strip() else text
        text += (child.text_content() if isinstance(child.tag, str) else "") + (child.tail or "")
    return text
