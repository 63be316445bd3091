"""What a source says: its blocks, and the facts that a faithful rendering keeps (code and its language, tables, headings,
list items, links, signatures, admonitions)."""
import re

from docutils import nodes
from markdown_it import MarkdownIt

WORD = re.compile(r"\w+")
ALERT = re.compile(r"^\[!(\w+)\]\s*")
# Where a system knows no tasks, its readers see the brackets.
TASK = re.compile(r"^\[[ xX]\] ")
ABSOLUTE = re.compile(r"^https?://")
PARSER = MarkdownIt("commonmark").enable("table")
KINDS = ("code", "tables", "headings", "items", "links", "signatures", "admonitions")


def nothing():
    return {kind: [] for kind in KINDS}


# ------------------------------------------------------------ Markdown


def of_markdown(text):
    """-> (blocks, facts) of Markdown whose admonitions are GitHub's alerts"""
    blocks, facts, stack, table = [], nothing(), [], []
    depth = 0
    for token in PARSER.parse(text):
        if token.type.endswith("_open"):
            stack.append(token)
            depth += token.type in ("bullet_list_open", "ordered_list_open")
            if token.type == "table_open":
                table = []
            elif token.type == "tr_open":
                table.append([])
        elif token.type.endswith("_close"):
            stack.pop()
            depth -= token.type in ("bullet_list_close", "ordered_list_close")
            if token.type == "table_close":
                facts["tables"].append(table)
        elif token.type == "inline":
            shown = note_inline(token, stack, depth, facts, table)
            blocks.append({"kind": kind_of(stack), "text": shown})
        elif token.type in ("fence", "code_block"):
            blocks.append({"kind": "code", "text": token.content})
            for opened in stack:
                opened.meta["told"] = True
            facts["code"].append({"text": token.content, "language": (token.info.split() or [""])[0]})
    for kind in ("items", "headings"):
        facts[kind] = [fact for fact in facts[kind] if WORD.search(fact["text"])]
    return [b for b in blocks if WORD.search(b["text"])], facts


def kind_of(stack):
    found = [t.type[:-5] for t in stack if t.type[:-5] in ("heading", "list_item", "td", "th", "blockquote")]
    return found[-1] if found else "paragraph"


def note_inline(token, stack, depth, facts, table):
    shown = TASK.sub("", shown_text(token.children))
    holder = stack[-1]
    if holder.type == "heading_open":
        facts["headings"].append({"text": shown, "level": int(holder.tag[1])})
    elif holder.type in ("th_open", "td_open"):
        table[-1].append(shown)
    item = next((opened for opened in reversed(stack) if opened.type == "list_item_open"), None)
    # What begins with a heading, a quote or code is no item of one line.
    if item is not None and not item.meta.get("told"):
        item.meta["told"] = True
        if stack[-2] is item and holder.type == "paragraph_open":
            facts["items"].append({"text": shown, "depth": depth})
    alert = ALERT.match(shown)
    if alert and len(stack) > 1 and stack[-2].type == "blockquote_open":
        shown = shown[alert.end():]
        facts["admonitions"].append({"kind": alert[1].lower(), "text": shown})
    note_links(token.children, facts["links"])
    return shown


def shown_text(children):
    return "".join(" " if c.type in ("softbreak", "hardbreak") else c.content for c in children if c.type != "image")


def note_links(children, links):
    opened = None
    for index, child in enumerate(children):
        if child.type == "link_open":
            opened = index
        elif child.type == "link_close":
            target = children[opened].attrs.get("href", "")
            if ABSOLUTE.match(target):
                links.append({"text": shown_text(children[opened + 1:index]), "target": target})


# ------------------------------------------------------------ reStructuredText

ADMONITIONS = (nodes.note, nodes.tip, nodes.important, nodes.warning, nodes.caution, nodes.danger, nodes.hint, nodes.attention,
               nodes.error)
LISTS = (nodes.bullet_list, nodes.enumerated_list)
UNSEEN = (nodes.comment, nodes.system_message, nodes.substitution_definition, nodes.target, nodes.docinfo, nodes.meta, nodes.image,
          nodes.raw)


def of_doctree(doctree):
    """-> (blocks, facts) of a document that docutils or Sphinx has read"""
    blocks, facts = [], nothing()
    title = doctree.get("title") if not isinstance(doctree.next_node(nodes.title), nodes.title) else None
    if title:
        blocks.append({"kind": "heading", "text": title})
    visit(doctree, blocks, facts, 0, 0)
    return [b for b in blocks if WORD.search(b["text"])], facts


def visit(node, blocks, facts, level, depth):
    if isinstance(node, UNSEEN) or node.tagname in ("toctree", "index", "only", "pending"):
        return
    if isinstance(node, ADMONITIONS):
        facts["admonitions"].append({"kind": node.tagname, "text": one_line(node.next_node(nodes.paragraph))})
    if isinstance(node, nodes.table):
        note_table(node, facts)
    if isinstance(node, nodes.list_item):
        first = next(iter(node.children), None)
        if isinstance(first, nodes.paragraph) and WORD.search(first.astext()):
            facts["items"].append({"text": one_line(first), "depth": depth})
    kind = kind_of_node(node)
    if kind is None:
        for child in node.children:
            if not isinstance(child, nodes.Text):
                visit(child, blocks, facts, level + isinstance(child, nodes.section), depth + isinstance(child, LISTS))
        return
    text = node.astext() if kind == "code" else one_line(node)
    blocks.append({"kind": kind, "text": text})
    if kind == "code":
        facts["code"].append({"text": text, "language": node.get("language", "")})
    elif kind == "signature":
        facts["signatures"].append(text)
    elif kind == "heading" and isinstance(node.parent, (nodes.section, nodes.document)):
        facts["headings"].append({"text": text, "level": level})
    for link in node.findall(nodes.reference):
        if ABSOLUTE.match(link.get("refuri", "")):
            facts["links"].append({"text": one_line(link), "target": link["refuri"]})


def kind_of_node(node):
    if node.tagname in ("desc_signature_line", "desc_signature"):
        return "signature"
    for kind, types in (("code", (nodes.literal_block, nodes.doctest_block)),
                        ("heading", (nodes.title, nodes.subtitle, nodes.rubric)),
                        ("paragraph", (nodes.paragraph, nodes.term, nodes.caption, nodes.line, nodes.field_name, nodes.attribution))):
        if isinstance(node, types):
            return kind
    return None


def note_table(node, facts):
    rows = []
    for row in node.findall(nodes.row):
        if any(e.get("morecols") or e.get("morerows") for e in row.children):
            return
        rows.append([" ".join(one_line(p) for p in entry.children) for entry in row.children])
    facts["tables"].append(rows)


def one_line(node):
    return "" if node is None else " ".join(node.astext().split())
