"""What themes put beside a text inside its own container: menus, outlines, pagers, breadcrumbs, links to the source, related
posts, comments, galleries, other news. Forms, places, tags and names are drawn anew for each page."""
import html
import random
import re
import zlib

from facts import PARSER, of_markdown

KINDS = ("menu", "library", "outline", "pager", "crumbs", "source", "related", "comments", "gallery", "stream")
PLACES = {  # before and after the title, after the text and after its container
    "menu": ("top", "titled", "end", "side", "before"), "library": ("top", "side", "before"),
    "outline": ("top", "titled", "end", "side"), "pager": ("top", "end", "side"), "crumbs": ("top", "before"),
    "source": ("top", "end", "before"), "related": ("end", "side"), "comments": ("end", "side"), "gallery": ("end", "side"), "stream": ("end", "side"),
}
FORMS = ("ul", "nested ul", "ol", "table", "dl", "details", "links", "paragraph", "boxes")
LABELS = {
    "menu": ("Handbook", "In this section", "Chapters", "Documentation", "Pages", "Library", ""), "library": ("Packages", "All manuals", "Reference", ""),
    "outline": ("On this page", "Contents", "In this article", "Page contents", "Table of contents", "Auf dieser Seite", ""),
    "related": ("Related posts", "You may also like", "More from the weir", "Keep reading", "Recommended"),
    "comments": ("2 comments", "Comments", "What readers say", "3 thoughts on this page", "Discussion"),
    "gallery": ("Gallery", "Pictures", "In pictures", ""), "stream": ("Latest news", "More news", "Other stories", "From the newsroom", "Also today"),
}
NAMES = ("", "", "", "box", "c1", "col-left", "block", "panel", "widget", "side", "inner", "list", "wrap", "part")
OWN_NAMES = {
    "menu": ("menu", "sidebar", "sidenav"), "library": ("menu", "tree", "sidebar"), "outline": ("toc", "outline", "page-toc"), "pager": ("pager", "prev-next"),
    "crumbs": ("breadcrumbs", "where"), "source": ("edit", "page-source"), "related": ("related", "cards"), "comments": ("comments", "responses"),
    "gallery": ("gallery", "photos"), "stream": ("stream", "latest"),
}
PAGERS = (("Previous: {}", "Next: {}"), ("← {}", "{} →"), ("Earlier: {}", "Later: {}"), ("« {}", "{} »"), ("Prev", "Next"), ("Zurück: {}", "Weiter: {}"),
          ("Previous page {}", "Next page {}"), ("{}", "{}"))
SOURCES = ("View page source", "Edit this page", "Improve this page", "Show source", "Edit on GitHub", "Suggest changes", "Report an issue")
LAYOUTS = (  # {top}{body}…: the container; `wrapped` is the text in a box of its own
    "<div{c}>{top}{h1}{titled}{text}{end}</div>{side}",
    "<main>{top}{h1}{titled}{text}{end}</main>{side}",
    "<main{c}>{top}<article>{h1}{titled}{text}</article>{end}</main>{side}",
    "<div{c}>{before}<div{d}>{top}<div{e}>{h1}{titled}{text}</div>{end}</div>{side}</div>",
    "<div{c}><div>{before}</div><div{d}>{top}{h1}<div>{titled}{text}</div>{end}</div><div{e}>{side}</div></div>",
    "<table><tr><td{c}>{before}</td><td{d}>{top}{h1}{titled}{text}{end}</td><td>{side}</td></tr></table>",
    "<section{c}>{before}<section{d}>{top}<header>{h1}</header>{titled}{text}<footer>{end}</footer></section>{side}</section>",
)


class Draw:
    def __init__(self, source, others):
        self.r = random.Random(zlib.crc32(source.name.encode()))
        self.others = others
        self.headings = []

    def name(self, kind=""):
        drawn = self.r.choice((*NAMES, *OWN_NAMES[kind])) if kind else self.r.choice(NAMES)
        return "" if not drawn else f" {self.r.choice(('class', 'class', 'id'))}='{drawn}'"

    def title(self):
        return self.r.choice(self.others)["title"]

    def sentence(self):
        return self.r.choice(self.r.choice(self.others)["sentences"])

    def links(self, count):
        return [(f"/d/{index}", self.title()) for index in self.r.sample(range(900), count)]


def anchor(href, text, more=""):
    return f"<a{more} href='{href}'>{html.escape(text)}</a>"


def in_form(form, links):
    made = [anchor(*link) for link in links]
    items = "".join(f"<li>{a}</li>" for a in made)
    if form == "nested ul":
        groups = [made[at:at + 4] for at in range(0, len(made), 4)]
        return "<ul>" + "".join(f"<li>{g[0]}<ul>{''.join(f'<li>{a}</li>' for a in g[1:])}</ul></li>" for g in groups) + "</ul>"
    return {
        "ul": f"<ul>{items}</ul>", "ol": f"<ol>{items}</ol>", "table": "<table>" + "".join(f"<tr><td>{a}</td></tr>" for a in made) + "</table>",
        "dl": "<dl>" + "".join(f"<dt>{made[at]}</dt>" + "".join(f"<dd>{a}</dd>" for a in made[at + 1:at + 3]) for at in range(0, len(made), 3)) + "</dl>",
        "details": f"<details><summary>Show all</summary><ul>{items}</ul></details>", "links": " ".join(made),
        "paragraph": f"<p>{' | '.join(made)}</p>", "boxes": "".join(f"<div>{a}</div>" for a in made),
    }[form]


def labelled(draw, kind, inner, needs_box=False):
    """In a box of its own, or bare; with a label or without one."""
    label = draw.r.choice(LABELS.get(kind, ("",)))
    tag = draw.r.choice(("h2", "h3", "h4", "p", "div", "strong", "p"))
    head = f"<{tag}>{label}</{tag}>" if label else ""
    box = draw.r.choice(("div", "div", "div", "section", "aside", "nav", "div role='navigation'") + (() if needs_box else ("",)))
    return f"<{box}{draw.name(kind)}>{head}{inner}</{box.split()[0]}>" if box else head + inner


def menu(draw, kind, count):
    form = draw.r.choice(FORMS)
    return form, labelled(draw, kind, in_form(form, draw.links(count)), form in ("links", "boxes"))


def print_kind(draw, kind):
    """-> (form, HTML)"""
    r = draw.r
    if kind in ("menu", "library"):
        return menu(draw, kind, r.randint(4, 16) if kind == "menu" else r.randint(80, 300))
    if kind == "outline":
        form = r.choice(FORMS)
        links = [(f"#{name}", text) for name, text in draw.headings]
        return form, labelled(draw, kind, in_form(form, links), form in ("links", "boxes")) if len(links) > 1 else ""
    if kind == "pager":
        said = r.choice(PAGERS)
        sides = [anchor(f"/d/{r.randint(0, 900)}", text.format(draw.title()), more) for text, more in zip(said, r.choice((("", ""), (" rel='prev'", " rel='next'"))))]
        form = r.choice(("p", "div", "nav", "table", "ul"))
        inner = {"table": f"<tr><td>{sides[0]}</td><td>{sides[1]}</td></tr>", "ul": f"<li>{sides[0]}</li><li>{sides[1]}</li>"}.get(form, " ".join(sides))
        return f"{form}, {said[0]}", f"<{form}{draw.name(kind)}>{inner}</{form}>"
    if kind == "crumbs":
        sign = r.choice(("›", "/", "»", ">", "·"))
        parts = [anchor("/", "Home"), *(anchor(f"/d/{i}", draw.title()) for i in range(r.randint(1, 2)))] + [html.escape(draw.own)] * r.randint(0, 1)
        form = r.choice(("p", "div", "ol", "ul", "nav"))
        inner = "".join(f"<li>{p}</li>" for p in parts) if form in ("ol", "ul") else f" {html.escape(sign)} ".join(parts)
        return form, f"<{form}{draw.name(kind)}>{inner}</{form}>"
    if kind == "source":
        link = anchor(f"/edit/{r.randint(0, 900)}.md", r.choice(SOURCES))
        form = r.choice(("p", "div role='navigation'", "div", "span"))
        return form, f"<{form}{draw.name(kind)}>{link}</{form.split()[0]}>"
    return print_texts(draw, kind)


def print_texts(draw, kind):
    r = draw.r
    count = r.randint(2, 6)
    form = r.choice(("div", "li", "article"))
    if kind == "related":
        teaser = r.random() < .6
        items = [f"<h4>{anchor(*draw.links(1)[0])}</h4>" + (f"<p>{draw.sentence()}</p>" if teaser else "") for _ in range(count)]
    elif kind == "comments":
        items = [f"<p><b>Reader {r.randint(2, 99)}</b> {r.randint(1, 28)} May 2024</p><p>{draw.sentence()}</p>" + "<a href='#reply'>Reply</a>" * r.randint(0, 1) for _ in range(count)]
    elif kind == "gallery":
        form = r.choice(("figure", "div", "li"))
        caption = "figcaption" if form == "figure" else "p"
        items = [f"<a href='/i/{i}.jpg'><img src='/i/{i}.png' alt=''></a><{caption}>{draw.title()}, {1900 + i}</{caption}>" for i in range(count)]
    else:
        items = [f"<h3>{anchor(*draw.links(1)[0])}</h3><p>{r.randint(1, 28)} May 2024</p><p>{draw.sentence()} {anchor('/more', 'Read more')}</p>" for _ in range(count)]
    listed = "".join(f"<{form}>{item}</{form}>" for item in items)
    return form, labelled(draw, kind, f"<ul>{listed}</ul>" if form == "li" else listed, True)


def print_around(source, others):
    """-> (body of the page, [{kind, form, place, text}])"""
    draw = Draw(source, others)
    rendered = with_ids(PARSER.render(source.text), draw)
    h1, _, text = rendered.partition("</h1>")
    h1 += "</h1>"
    draw.own = re.sub(r"<[^>]+>", "", h1)
    layout = draw.r.choice(LAYOUTS)
    slots, beside = dict.fromkeys(("before", "top", "titled", "end", "side"), ""), []
    kinds = [kind for kind in KINDS if draw.r.random() < (.15 if kind == "library" else .4)]
    draw.r.shuffle(kinds)
    for kind in kinds:
        form, made = print_kind(draw, kind)
        place = draw.r.choice([place for place in PLACES[kind] if f"{{{place}}}" in layout])
        if made:
            slots[place] += made
            beside.append({"kind": kind, "form": form, "place": place, "text": " ".join(re.sub(r"<[^>]+>", " ", made).split())})
    names = {letter: draw.name() for letter in "cde"}
    for key, value in {**slots, **names, "h1": h1, "text": text}.items():
        layout = layout.replace(f"{{{key}}}", value)
    return layout, beside


def with_ids(rendered, draw):
    """Gives headings the ids that outlines lead to."""
    def write(match):
        shown = html.unescape(re.sub(r"<[^>]+>", "", match[2]))
        name = re.sub(r"\W+", "-", shown.lower()).strip("-") or f"s{match.start()}"
        if match[1] != "1":
            draw.headings.append((name, shown))
        return f"<h{match[1]} id='{name}'>{match[2]}</h{match[1]}>"
    return re.sub(r"<h([123])>(.*?)</h\1>", write, rendered, flags=re.S)


def texts_of(sources):
    """What the links and remarks around one text say: the titles and sentences of the others."""
    found = []
    for source in sources:
        blocks, _ = of_markdown(source.text)
        sentences = [b["text"] for b in blocks if b["kind"] == "paragraph" and 40 < len(b["text"]) < 300 and "<" not in b["text"]]
        headings = [b["text"] for b in blocks if b["kind"] == "heading" and len(b["text"]) < 60 and "<" not in b["text"]]
        if sentences and headings:
            found += [{"title": heading, "sentences": sentences} for heading in headings[:12]]
    return found
