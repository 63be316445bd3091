#!/usr/bin/env python3
"""Makes a set of articles whose content is known to the letter: made.py DIRECTORY [PAGES]

Paragraphs, with equal parts of one random shape (questions, steps, columns, captions) or what an author adds (links below a
heading, a figure, a list) at the start, in the middle or at the end, and between them what a template adds, in names that say
nothing or too much. Annotated pages end their references early and teach that the last part of an article is clutter; here an
author's never is.
"""
import json
import random
import sys
from pathlib import Path

PEOPLE = "surgeon drummer notary printer forester diver brewer astronomer tailor mason midwife courier".split()
DEEDS = "catalogued borrowed buried restored weighed engraved inherited photographed burned copied misplaced".split()
THINGS = "almanac harness telescope anvil lighthouse ferry piano vineyard ledger quarry violin granary".split()
NAMES = "block row cell unit wrap part line panel col css-1kx9 sc-b77d u-p4 module-body flex stack text-l group2 x7".split()
GAPS = ["{} and the {}", "{} against the {}", "{} without a {}"]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def sentence(self):
        r = self.r
        return (f"{r.choice(['In', 'By', 'Around', 'Until'])} {r.randint(1650, 2020)} the {r.choice(PEOPLE)} had {r.choice(DEEDS)} "
                f"{r.choice(['the', 'one', 'another', 'its'])} {r.choice(THINGS)}, {r.choice(['as the register shows', 'and few objected', 'which cost the town dearly', 'though nobody asked'])}.")

    def title(self):
        r = self.r
        return f"{r.choice(GAPS).format(r.choice(THINGS), r.choice(PEOPLE)).capitalize()} of ward {r.randint(2, 99)}"

    def named(self):
        return "" if self.r.random() < 0.3 else f' class="{" ".join(self.r.sample(NAMES, self.r.randint(1, 2)))}"'

    def text(self, least, most):
        return " ".join(self.sentence() for _ in range(self.r.randint(least, most)))

    def parts(self):
        """-> markup of 2 to 6 parts of one shape, and their text"""
        r = self.r
        kind = r.choice(["plain", "headed", "asked", "numbered", "pictured", "quoted", "labelled", "listed", "defined", "rows", "code"])
        outer, inner, head = r.choice(["div", "section", "article", "figure", "li"]), r.choice(["p", "div", "span"]), r.choice("h2 h3 h4 strong b p div".split())
        names, depth = [self.named() for _ in range(4)], r.randint(0, 3)
        sentences = r.choice([1, 1, 2, 3])
        markup, known = [], []
        for number in range(r.randint(2, 6)):
            text = self.text(sentences, sentences)
            title = self.title() + ("?" if kind == "asked" else "")
            own = f"<{inner}{names[0]}>{text}</{inner}>"
            for _ in range(depth):
                own = f"<div{names[1]}>{own}</div>"
            texts = [text]
            if kind in ("headed", "asked"):
                own, texts = f"<{head}{names[2]}>{title}</{head}>{own}", [title, text]
            elif kind == "numbered":
                own, texts = f"<span{names[2]}>{number + 1}</span>{own}", [str(number + 1), text]
            elif kind == "pictured":
                own = f'<img src="/i/{r.randint(1, 999)}.jpg" alt="" width="800" height="500"><figcaption>{text}</figcaption>'
            elif kind == "labelled":
                own, texts = f"<p><b>{title}</b> {text}</p>", [f"{title} {text}"]
            elif kind == "code":
                text = f"make {r.choice(THINGS)} --count {r.randint(2, 99)} --owner {r.choice(PEOPLE)}"
                own, texts = f"<pre><code>{text}</code></pre>", [text]
            elif kind == "defined":
                own, texts = f"<dt>{title}</dt><dd>{text}</dd>", [title, text]
            elif kind == "rows":
                own, texts = f"<tr><td>{title}</td><td>{text}</td></tr>", [title, text]
            if kind == "quoted":
                own = f"<blockquote{names[3]}>{own}</blockquote>"
            elif kind not in ("defined", "rows", "code", "labelled"):
                own = f"<{outer}{names[3]}>{own}</{outer}>"
            markup.append(own)
            known += texts
        box = {"defined": "dl", "rows": "table"}.get(kind) or (r.choice(["ul", "ol"]) if outer == "li" and "<li" in markup[0] else r.choice(["div", "section", ""]))
        whole = "".join(markup)
        return (f"<{box}{self.named()}>{whole}</{box}>" if box else whole), known

    def own(self):
        """-> markup of what an author writes beside paragraphs, without any name, and its texts"""
        r = self.r
        titles = [self.title() for _ in range(r.randint(2, 5))]
        links = [f'<a href="/{r.choice(THINGS)}/{r.randint(1, 99)}">{title}</a>' for title in titles]
        label, text = self.r.choice(["See also", "Further reading", "Sources", "References", "Contents", "In this series", "Links"]), self.text(1, 1)
        head = r.choice(["h2", "h2", "h3"])
        return r.choice([
            (f"<{head}>{label}</{head}><ul>{''.join(f'<li>{link}</li>' for link in links)}</ul>", [label, *titles]),
            (f"<{head}>{label}</{head}><ol>{''.join(f'<li>{link}</li>' for link in links)}</ol><p>{text}</p>", [label, *titles, text]),
            (f"<{head}>{label}</{head}><ul>{''.join(f'<li>{link}: {text}</li>' for link in links)}</ul>", [label] + [f"{title}: {text}" for title in titles]),
            (f'<figure><img src="/i/{r.randint(1, 99)}.png"><figcaption>{titles[0]}.</figcaption></figure>', [titles[0]]),
            (f'<p><img src="/i/{r.randint(1, 99)}.png" alt=""></p><p><em>{titles[0]}.</em></p>', [titles[0]]),
            (f"<ul>{''.join(f'<li>{title}</li>' for title in titles)}</ul>", titles),
            (f"<table><tr><th>{titles[0]}</th><th>{titles[1]}</th></tr><tr><td>{r.randint(1, 99)}</td><td>{r.randint(1, 99)}</td></tr></table>", titles[:2]),
        ])

    def clutter(self):
        """Stands between the paragraphs, and belongs to none: a template's, so that it has a name of some kind."""
        r, n = self.r, self.r.randint(10, 999)
        links = "".join(f'<li><a href="/s/{n}{i}">{self.title()}</a></li>' for i in range(r.randint(2, 5)))
        cards = "".join(f'<a href="/s/{n}{i}"><img src="/t/{n}{i}.jpg" alt=""><h4>{self.title()}</h4></a>' for i in range(r.randint(2, 4)))
        return r.choice([
            f'<div class="{r.choice(["related", "recirc", "more-links", "read-next"])}"><h3>{r.choice(["Related", "Read next", "More stories", "Popular now"])}</h3><ul>{links}</ul></div>',
            f"<div class='{r.choice(NAMES)}'><h4>{r.choice(['Also on this site', 'You may like', 'Latest'])}</h4>{cards}</div>",
            f'<p><em>{r.choice(["See also", "Read more", "Also read"])}: <a href="/s/{n}">{self.title()}</a></em></p>',
            f'<div class="{r.choice(NAMES)}"><p>{r.choice(["Join our readers", "Get our weekly letter", "Never miss a story"])}.</p><form action="/join"><input type="email"><button>Subscribe</button></form></div>',
            f'<div class="{r.choice(["ad", "ad-box", "sponsor", "promo-slot"])}"><small>{r.choice(["Advertisement", "Sponsored", "Ad"])}</small><a href="https://ads.example/{n}"><img src="https://ads.example/{n}.png" alt=""></a></div>',
            f'<ul class="{r.choice(["share", "share-bar", "social"])}"><li><a href="https://social.example/?u={n}">Share</a></li><li><a href="mailto:?subject={n}">Email</a></li><li><button>Copy link</button></li></ul>',
            f'<aside><p>Our work costs money: <a href="/give">give {n % 90 + 5} a month</a>.</p></aside>',
        ])

    def page(self):
        """-> (HTML, the texts of its content)"""
        r, title = self.r, self.title()
        body = [(f"<p>{text}</p>", [text]) for text in (self.text(2, 5) for _ in range(r.randint(2, 9)))]
        if r.random() < 0.4:
            body = [(f"<h2>{name}</h2>{markup}", [name, *texts]) for name, (markup, texts) in ((self.title(), one) for one in body)]
        for _ in range(r.choice([1, 1, 2])):
            body.insert(r.choice([0, len(body) // 2, len(body), len(body)]), r.choice([self.parts, self.parts, self.own])())
        for _ in range(r.choice([0, 0, 1, 2])):
            body.insert(r.randint(1, len(body) - 1), (self.clutter(), []))
        inside = "\n".join(markup for markup, _ in body)
        if r.random() < 0.3:
            inside += f'<div class="{r.choice(["related", "more-stories", "recirc"])}"><h3>{r.choice(["Related", "More from us"])}</h3>' + "".join(
                f'<a href="/s/{i}">{self.title()}</a>' for i in range(4)) + "</div>"
        head, name = f"<h1>{title}</h1>", f"{r.choice(THINGS).capitalize()} {r.choice(['Post', 'Weekly', 'Notes'])}"
        core = r.choice([f"<main><article>{head}{inside}</article></main>", f'<div id="content"><div{self.named()}>{head}{inside}</div></div>', head + inside,
                         f"<div{self.named()}><div{self.named()}>{head}</div><div{self.named()}>{inside}</div></div>"])
        menu = "".join(f'<li><a href="/{word}">{word.capitalize()}s</a></li>' for word in r.sample(THINGS, r.randint(3, 7)))
        side = f'<div class="{r.choice(["sidebar", "right-col", "x7"])}"><h3>Latest</h3><ul>' + "".join(f'<li><a href="/s/{i}">{self.title()}</a></li>' for i in range(5)) + "</ul></div>"
        return (f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title} | {name}</title></head><body><header><a href=/>{name}</a><nav><ul>{menu}</ul></nav></header>"
                f"{core}{side if r.random() < 0.4 else ''}<footer><a href=/imprint>Imprint</a> <a href=/privacy>Privacy</a><p>© {r.randint(2009, 2026)} {name}. All rights reserved.</p></footer></body></html>",
                [title] + [text for _, known in body for text in known])


def main():
    directory, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 300
    (directory / "html").mkdir(parents=True, exist_ok=True)
    with open(directory / "pages.jsonl", "w", encoding="utf-8") as lines:
        for seed in range(count):
            html, texts = Maker(seed).page()
            (directory / "html" / f"{seed}.html").write_text(html, encoding="utf-8")
            lines.write(json.dumps({"id": str(seed), "url": f"https://made{seed}.example/", "main_content": "\n".join(texts), "blocks": [{"kind": "", "text": text} for text in texts]}) + "\n")


if __name__ == "__main__":
    main()
