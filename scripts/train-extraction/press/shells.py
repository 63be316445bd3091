"""Plain pages around an article: what a person writes without a publishing system."""
import json

from around import print_around, texts_of
from facts import PARSER

NAV = '<nav><ul><li><a href="/">Home</a></li><li><a href="/guide/">Guide</a></li><li><a href="/api/">API</a></li><li><a href="/blog/">Blog</a></li></ul></nav>'
FOOT = '<p>© 2026 Weirside. <a href="/privacy/">Privacy</a> · <a href="/imprint/">Imprint</a></p>'
SIDEBAR = ('<aside class="sidebar"><h3>Handbook</h3><ul><li><a href="/start/">Getting started</a></li><li><a href="/install/">Installation</a></li>'
           '<li><a href="/gates/">Gates and locks</a></li><li><a href="/faq/">Frequent questions</a></li></ul></aside>')
TOC = '<div class="toc"><h4>On this page</h4><ul><li><a href="#a">First steps</a></li><li><a href="#b">Further reading</a></li></ul></div>'
PAGER = '<div class="pager"><a rel="prev" href="/p/">Previous: The weir</a> <a rel="next" href="/n/">Next: The lock</a></div>'
COMMENTS = ('<section id="comments"><h2>2 comments</h2><div class="comment"><p>Thank you, that was just what I needed today.</p></div>'
            '<div class="comment"><p>Does this work on the other side of the river too?</p></div></section>')
BANNER = '<div class="cookie-banner" role="dialog"><p>We use cookies to improve this site.</p><button>Accept all</button></div>'

# {body} is the article; a page of each shell is what its name says.
SHELLS = {
    "article": f"<header>{NAV}</header><main><article>{{body}}</article></main><footer>{FOOT}</footer>",
    "docs": f"<header>{NAV}</header><div class='layout'>{SIDEBAR}<main class='content'>{{body}}{PAGER}</main>{TOC}</div><footer>{FOOT}</footer>",
    "blog": f"{BANNER}<header>{NAV}</header><div id='content'><div class='post'><div class='entry'>{{body}}</div></div>{COMMENTS}</div>"
            f"<div id='sidebar'>{SIDEBAR}</div><div id='footer'>{FOOT}</div>",
    "bare": "{body}",
    "divs": f"<div>{NAV}</div><div>{{body}}</div><div>{FOOT}</div>",
    "table": f"<table width='100%'><tr><td width='180'>{SIDEBAR}</td><td>{{body}}</td></tr><tr><td colspan='2'>{FOOT}</td></tr></table>",
}


def print_shell(shell):
    def print_site(tools, site, sources):
        paths = {}
        for source in sources:
            paths[source.name] = site / f"{source.name}.html"
            body = SHELLS[shell].replace("{body}", PARSER.render(source.text))
            paths[source.name].write_text(f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{source.name} · Handbook</title>"
                                          f"</head><body>{body}</body></html>", encoding="utf-8")
        return paths
    return print_site


def print_mixed(tools, site, sources):
    """Pages with everything around the text, see around.py; what it is goes to NAME.beside.json."""
    others, paths = texts_of(sources), {}
    for source in sources:
        paths[source.name] = site / f"{source.name}.html"
        body, beside = print_around(source, others)
        nav = NAV if len(source.name) % 2 else ""
        paths[source.name].write_text(f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{source.name}</title></head>"
                                      f"<body>{nav}{body}<footer>{FOOT}</footer></body></html>", encoding="utf-8")
        paths[source.name].with_suffix(".beside.json").write_text(json.dumps(beside))
    return paths
