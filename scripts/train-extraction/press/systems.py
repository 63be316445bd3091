"""Publishing systems: each prints sources as one site. `site` is an empty folder; a printer (tools, site, sources) gives
{name: path of the page}."""
import json
import os
import subprocess
from typing import Callable, NamedTuple

from reference import REFERENCES
from shells import SHELLS, print_mixed, print_shell

LIMIT_S = 400


class System(NamedTuple):
    print_site: Callable
    form: str = "bold"  # of admonitions, see sources.write_alerts
    formats: tuple = ("md",)
    most: int = 24  # sources of a format; fewer where each is a site
    is_reference: bool = False  # prints an interface of classes and functions whose comments are the source's sections


class Tools:
    def __init__(self, scratch):
        self.scratch = scratch
        self.python = scratch / "py/venv/bin"
        self.modules = scratch / "js/node_modules"

    def run(self, *words, cwd, **environment):
        done = subprocess.run([str(w) for w in words], cwd=cwd, env=os.environ | {"CI": "1", **environment}, timeout=LIMIT_S,
                              capture_output=True, text=True)
        if done.returncode != 0:
            said = done.stderr or done.stdout
            error = next((line.strip() for line in said.splitlines() if "rror" in line), "")
            raise RuntimeError(f"{str(words[0]).rsplit('/', 1)[-1]}: {error[:300]} … {said[-300:]}")
        return done.stdout


def no_front(name, index):
    return ""


def write_all(folder, sources, front=no_front, change=lambda text: text):
    folder.mkdir(parents=True, exist_ok=True)
    for index, source in enumerate(sources):
        (folder / f"{source.name}.{source.format}").write_text(front(source.name, index) + change(source.text), encoding="utf-8")


def titled(name, index):
    return f"---\ntitle: {name}\ndate: 2025-{index % 12 + 1:02}-11 10:00:00\ntags: [weir, gate]\ncategories: notes\n---\n"


def pages(sources, path):
    return {source.name: path(source.name) for source in sources}


def sphinx(theme):
    def print_site(tools, site, sources):
        write_all(site, sources)
        names = "\n".join(source.name for source in sources)
        (site / "index.md").write_text(f"# Handbook\n\n```{{toctree}}\n{names}\n```\n")
        (site / "conf.py").write_text(f"project='Handbook'\nextensions=['myst_parser']\nhtml_theme={theme!r}\n"
                                      "suppress_warnings=['*']\n")
        tools.run(tools.python / "sphinx-build", "-q", "-b", "html", ".", "out", cwd=site)
        return pages(sources, lambda name: site / "out" / f"{name}.html")
    return print_site


def mkdocs(theme, program="mkdocs"):
    def print_site(tools, site, sources):
        write_all(site / "docs", sources)
        (site / "docs/index.md").write_text("# Handbook\n\nAll that is known.\n")
        (site / "mkdocs.yml").write_text(f"site_name: Handbook\nsite_url: http://localhost/\ntheme:\n  name: {theme}\n"
                                         "markdown_extensions: [tables, fenced_code, admonition]\n")
        tools.run(tools.python / program, "build", *(["-q"] if program == "mkdocs" else []), cwd=site, NO_MKDOCS_2_WARNING="1")
        return pages(sources, lambda name: site / "site" / name / "index.html")
    return print_site


def pelican(theme):
    def print_site(tools, site, sources):
        def front(name, index):
            return f"Title: {name}\nDate: 2025-{index % 12 + 1:02}-11\nCategory: notes\nTags: weir, gate\nSlug: {name}\n\n"
        write_all(site / "content", sources, front)
        (site / "conf.py").write_text(f"SITENAME='Handbook'\nTHEME={theme!r}\n"
                                      "MARKDOWN={'extensions':['tables','fenced_code','admonition','codehilite']}\n")
        tools.run(tools.python / "pelican", "content", "-o", "out", "-s", "conf.py", "-q", cwd=site)
        return pages(sources, lambda name: site / "out" / f"{name}.html")
    return print_site


def nikola(theme):
    def print_site(tools, site, sources):
        tools.run(tools.python / "nikola", "init", "-q", "book", cwd=site)
        book = site / "book"

        def front(name, index):
            lines = f".. title: {name}\n.. slug: {name}\n.. date: 2025-{index % 12 + 1:02}-11 10:00:00 UTC\n.. tags: weir, gate\n"
            return f"<!--\n{lines}-->\n\n" if sources[index].format == "md" else f"{lines}\n"
        write_all(book / "posts", sources, front)
        conf = (book / "conf.py").read_text()
        (book / "conf.py").write_text(f"{conf}\nTHEME={theme!r}\nPOSTS=(('posts/*.rst','posts','post.tmpl'),('posts/*.md','posts','post.tmpl'))\n"
                                      "COMPILERS={'rest':['.rst'],'markdown':['.md']}\nMARKDOWN_EXTENSIONS=['markdown.extensions.fenced_code',"
                                      "'markdown.extensions.tables','markdown.extensions.admonition']\n")
        tools.run(tools.python / "nikola", "build", cwd=book)
        return pages(sources, lambda name: book / "output/posts" / name / "index.html")
    return print_site


def docutils(writer):
    def print_site(tools, site, sources):
        write_all(site, sources)
        for source in sources:
            tools.run(tools.python / f"rst2{writer}", "--quiet", "--report=5", f"{source.name}.rst", f"{source.name}.html", cwd=site)
        return pages(sources, lambda name: site / f"{name}.html")
    return print_site


def pdoc(tools, site, sources):
    package = site / "handbook"
    package.mkdir()
    (package / "__init__.py").write_text("'''A handbook.'''\n")
    for source in sources:
        (package / f"m_{source.name.replace('-', '_')}.py").write_text(f"__doc__ = {source.text!r}\n", encoding="utf-8")
    # The listing of a module's source would say its text again.
    tools.run(tools.python / "pdoc", "--no-show-source", "--docformat", "markdown", "-o", "out", "./handbook", cwd=site)
    return pages(sources, lambda name: site / "out/handbook" / f"m_{name.replace('-', '_')}.html")


def hexo(theme):
    def print_site(tools, site, sources):
        write_all(site / "source/_posts", sources, titled)
        (site / "_config.yml").write_text(f"title: Handbook\nurl: http://localhost\npermalink: :title/\ntheme: {theme}\n"
                                          "syntax_highlighter: highlight.js\n")
        plugins = {n: "*" for n in ("hexo-renderer-marked", "hexo-renderer-ejs", "hexo-renderer-stylus", "hexo-generator-index",
                                    "hexo-generator-archive", f"hexo-theme-{theme}")}
        (site / "package.json").write_text(json.dumps({"name": "site", "hexo": {"version": ""}, "dependencies": {"hexo": "*", **plugins}}))
        (site / "node_modules").symlink_to(tools.modules)
        tools.run(tools.modules / ".bin/hexo", "generate", cwd=site)
        return pages(sources, lambda name: site / "public" / name / "index.html")
    return print_site


def vitepress(tools, site, sources):
    write_all(site, sources)
    (site / "index.md").write_text("# Handbook\n")
    items = json.dumps([{"text": source.name, "link": f"/{source.name}"} for source in sources])
    (site / ".vitepress").mkdir()
    (site / ".vitepress/config.mjs").write_text(
        f"export default {{title:'Handbook',ignoreDeadLinks:true,markdown:{{html:false}},themeConfig:{{sidebar:{items},"
        "nav:[{text:'Guide',link:'/'}],footer:{message:'MIT',copyright:'Copyright 2026 Weirside'}}}\n")
    (site / "node_modules").symlink_to(tools.modules)
    tools.run(tools.modules / ".bin/vitepress", "build", cwd=site)
    return pages(sources, lambda name: site / ".vitepress/dist" / f"{name}.html")


def docusaurus(tools, site, sources):
    write_all(site / "docs", sources)
    (site / "package.json").write_text('{"name":"site","private":true}')
    (site / "docusaurus.config.js").write_text(
        "module.exports={title:'Handbook',url:'http://localhost',baseUrl:'/',onBrokenLinks:'ignore',onBrokenAnchors:'ignore',"
        "onBrokenMarkdownLinks:'ignore',markdown:{format:'md'},"
        "presets:[['classic',{docs:{routeBasePath:'/'},blog:false}]],themeConfig:{navbar:{title:'Handbook'},footer:{copyright:'Weirside'}}}\n")
    (site / "node_modules").symlink_to(tools.scratch / "docusaurus/node_modules")
    tools.run(site / "node_modules/.bin/docusaurus", "build", cwd=site, NODE_OPTIONS="--max-old-space-size=3000")
    return pages(sources, lambda name: site / "build" / name / "index.html")


def starlight(tools, site, sources):
    write_all(site / "src/content/docs", sources, lambda name, index: f"---\ntitle: {name}\n---\n")
    (site / "src/content/docs/index.md").write_text("---\ntitle: Handbook\n---\nAll that is known.\n")
    (site / "src/content.config.mjs").write_text(
        "import { defineCollection } from 'astro:content';\nimport { docsLoader } from '@astrojs/starlight/loaders';\n"
        "import { docsSchema } from '@astrojs/starlight/schema';\n"
        "export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };\n")
    (site / "package.json").write_text('{"name":"site","type":"module"}')
    (site / "astro.config.mjs").write_text(
        "import { defineConfig } from 'astro/config';\nimport starlight from '@astrojs/starlight';\nexport default defineConfig({ site:"
        "'http://localhost', integrations: [starlight({ title: 'Handbook', pagefind: false })] });\n")
    (site / "node_modules").symlink_to(tools.scratch / "starlight/node_modules")
    tools.run(site / "node_modules/.bin/astro", "build", cwd=site, ASTRO_TELEMETRY_DISABLED="1")
    return pages(sources, lambda name: site / "dist" / name / "index.html")


def rspress(tools, site, sources):
    write_all(site / "docs", sources)
    (site / "docs/index.md").write_text("# Handbook\n")
    (site / "docs/_meta.json").write_text(json.dumps([source.name for source in sources]))
    (site / "rspress.config.mjs").write_text("export default { root: 'docs', title: 'Handbook', markdown: { checkDeadLinks: false } };\n")
    (site / "package.json").write_text('{"name":"site","type":"module"}')
    (site / "node_modules").symlink_to(tools.scratch / "rspress/node_modules")
    tools.run(site / "node_modules/.bin/rspress", "build", cwd=site)
    return pages(sources, lambda name: site / "doc_build" / f"{name}.html")


def honkit(tools, site, sources):
    write_all(site, sources)
    (site / "README.md").write_text("# Handbook\n")
    (site / "SUMMARY.md").write_text("# Summary\n\n" + "".join(f"* [{source.name}]({source.name}.md)\n" for source in sources))
    (site / "node_modules").symlink_to(tools.modules)
    tools.run(tools.modules / ".bin/honkit", "build", cwd=site)
    return pages(sources, lambda name: site / "_book" / f"{name}.html")


def mdbook(tools, site, sources):
    write_all(site / "src", sources)
    (site / "src/SUMMARY.md").write_text("# Summary\n\n" + "".join(f"- [{source.name}]({source.name}.md)\n" for source in sources))
    (site / "book.toml").write_text('[book]\ntitle = "Handbook"\n')
    tools.run(tools.python / "mdbook", "build", cwd=site)
    return pages(sources, lambda name: site / "book" / f"{name}.html")


LAYOUT = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} | Handbook</title></head><body>
<header class="site-header"><a href="/">Handbook</a><nav class="site-nav"><a href="/about/">About</a> <a href="/tags/">Tags</a></nav></header>
<main class="page-content"><article class="post"><header class="post-header"><h1 class="post-title">{title}</h1>
<p class="post-meta"><time datetime="2025-03-11">Mar 11, 2025</time></p></header><div class="post-content">{content}</div>
<div class="related"><h3>Related posts</h3><ul><li><a href="/one/">The weir in winter</a></li><li><a href="/two/">Gates and
locks</a></li></ul></div></article></main><footer class="site-footer"><p>Powered by a generator. All rights reserved.</p></footer></body></html>"""


def hugo(tools, site, sources):
    write_all(site / "content", sources, titled)
    (site / "layouts/_default").mkdir(parents=True)
    for kind in ("single", "list"):
        (site / f"layouts/_default/{kind}.html").write_text(LAYOUT.format(title="{{ .Title }}", content="{{ .Content }}"))
    (site / "config.toml").write_text("baseURL='http://localhost/'\ntitle='Handbook'\n")
    tools.run("hugo", "--quiet", cwd=site)
    return pages(sources, lambda name: site / "public" / name / "index.html")


def jekyll(tools, site, sources):
    write_all(site, sources, lambda name, index: f"---\ntitle: {name}\nlayout: default\npermalink: /{name}/\n---\n")
    (site / "_layouts").mkdir()
    (site / "_layouts/default.html").write_text(LAYOUT.format(title="{{ page.title }}", content="{{ content }}"))
    (site / "_config.yml").write_text("title: Handbook\nplugins: []\n")
    tools.run("jekyll", "build", "--disable-disk-cache", cwd=site)
    return pages(sources, lambda name: site / "_site" / name / "index.html")


def pandoc(tools, *words, cwd):
    program = tools.run(tools.python / "python", "-c", "import pypandoc; print(pypandoc.get_pandoc_path())", cwd=cwd).strip()
    tools.run(program, *words, cwd=cwd)


def pandoc_page(tools, site, sources):
    write_all(site, sources)
    for source in sources:
        pandoc(tools, "-s", "--toc", "--metadata", f"title={source.name}", "-f", "gfm", f"{source.name}.md", "-o", f"{source.name}.html", cwd=site)
    return pages(sources, lambda name: site / f"{name}.html")


def asciidoctor(tools, site, sources):
    write_all(site, sources)
    for source in sources:
        pandoc(tools, "--shift-heading-level-by=-1", "-f", "gfm", "-t", "asciidoc", "-s", f"{source.name}.md", "-o", f"{source.name}.adoc", cwd=site)
    tools.run(tools.modules / ".bin/asciidoctor", "-a", "toc=left", "-a", "source-highlighter=highlight.js",
              *(f"{source.name}.adoc" for source in sources), cwd=site)
    return pages(sources, lambda name: site / f"{name}.html")


def rustdoc_page(tools, site, sources):
    write_all(site, sources)
    for source in sources:
        tools.run("rustdoc", f"{source.name}.md", "-o", "out", cwd=site)
    return pages(sources, lambda name: site / "out" / f"{name}.html")


MODULE = "/** Opens a gate.\n * @module gates */\n/** Lifts it.\n * @param {number} n how far */\nexport function lift(n) { return n; }\n"


def jsdoc(theme):
    def print_site(tools, site, sources):
        (site / "gates.js").write_text(MODULE)
        write_all(site, sources)
        for source in sources:
            template = ["-t", str(tools.modules / theme)] if theme else []
            tools.run(tools.modules / ".bin/jsdoc", "-R", f"{source.name}.md", "-d", f"out-{source.name}", *template, "gates.js", cwd=site)
        return pages(sources, lambda name: site / f"out-{name}" / "index.html")
    return print_site


def typedoc(tools, site, sources):
    (site / "gates.ts").write_text("/** Lifts it. */\nexport function lift(n: number): number { return n; }\n")
    (site / "tsconfig.json").write_text('{"compilerOptions":{"skipLibCheck":true,"types":[]},"files":["gates.ts"]}')
    (site / "node_modules").symlink_to(tools.modules)
    write_all(site, sources)
    for source in sources:
        tools.run(tools.modules / ".bin/typedoc", "--entryPoints", "gates.ts", "--readme", f"{source.name}.md", "--out", f"out-{source.name}",
                  "--name", "Handbook", cwd=site)
    return pages(sources, lambda name: site / f"out-{name}" / "index.html")


RST = ("md", "rst")
SYSTEMS = {
    **{f"shell/{shell}": System(print_shell(shell), most=40) for shell in SHELLS},
    "shell/mixed": System(print_mixed, most=120),
    **{f"sphinx/{t}": System(sphinx(t), "myst", RST, 12) for t in (
        "alabaster", "classic", "nature", "furo", "sphinx_rtd_theme", "pydata_sphinx_theme", "sphinx_book_theme", "bizstyle", "haiku",
        "shibuya", "python_docs_theme", "piccolo_theme", "sphinxawesome_theme")},
    **{f"docutils/{w}": System(docutils(w), formats=("rst",)) for w in ("html4", "html5")},
    **{f"mkdocs/{t}": System(mkdocs(t), "python") for t in ("mkdocs", "readthedocs", "material", "windmill", "terminal", "flatly")},
    "zensical": System(mkdocs("material", "zensical"), "python"),
    **{f"pelican/{t}": System(pelican(t), "python", RST, 16) for t in ("notmyidea", "simple")},
    **{f"nikola/{t}": System(nikola(t), "python", RST, 14) for t in ("bootblog4", "base")},
    "mdbook": System(mdbook, "github"), "vitepress": System(vitepress, "github"), "honkit": System(honkit),
    "docusaurus": System(docusaurus, "docusaurus"), "starlight": System(starlight, "starlight"), "rspress": System(rspress, "github"),
    **{f"hexo/{t}": System(hexo(t)) for t in ("landscape", "next")},
    "hugo": System(hugo), "jekyll": System(jekyll), "pandoc": System(pandoc_page, "github"),
    "asciidoctor": System(asciidoctor, "github"), "pdoc": System(pdoc), "rustdoc": System(rustdoc_page, most=14),
    "typedoc": System(typedoc, "github", most=12), **{f"jsdoc/{t or 'default'}": System(jsdoc(t), most=12) for t in ("", "docdash")},
    **{f"{name}/reference": System(printer, most=12, is_reference=True) for name, printer in REFERENCES.items()},
}
