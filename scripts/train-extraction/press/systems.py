"""Publishing systems: each prints all sources as one site. A system is a function (site, sources) -> {name: path of
the page}; `site` is an empty folder, `sources` is [(name, Markdown)]."""
import json
import os
import subprocess
from pathlib import Path

LIMIT_S = 240


class Tools:
    def __init__(self, scratch):
        self.python = scratch / "py/venv/bin"
        self.modules = scratch / "js/node_modules"

    def run(self, *words, cwd, **environment):
        done = subprocess.run([str(w) for w in words], cwd=cwd, env=os.environ | {"CI": "1", **environment}, timeout=LIMIT_S,
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{Path(str(words[0])).name}: {(done.stderr or done.stdout)[-300:]}")


def write_all(folder, sources, front=lambda name, index: ""):
    folder.mkdir(parents=True, exist_ok=True)
    for index, (name, text) in enumerate(sources):
        (folder / f"{name}.md").write_text(front(name, index) + text, encoding="utf-8")


def sphinx(theme):
    def print_site(tools, site, sources):
        write_all(site, sources)
        names = "\n".join(name for name, _ in sources)
        (site / "index.md").write_text(f"# Handbook\n\n```{{toctree}}\n{names}\n```\n")
        (site / "conf.py").write_text(f"project='Handbook'\nextensions=['myst_parser']\nhtml_theme={theme!r}\n")
        tools.run(tools.python / "sphinx-build", "-q", "-b", "html", ".", "out", cwd=site)
        return {name: site / "out" / f"{name}.html" for name, _ in sources}
    return print_site


def mkdocs(theme):
    def print_site(tools, site, sources):
        write_all(site / "docs", sources)
        (site / "docs/index.md").write_text("# Handbook\n\nAll that is known.\n")
        (site / "mkdocs.yml").write_text(f"site_name: Handbook\nsite_url: http://localhost/\ntheme:\n  name: {theme}\n"
                                         "markdown_extensions: [tables, fenced_code]\n")
        tools.run(tools.python / "mkdocs", "build", "-q", cwd=site, NO_MKDOCS_2_WARNING="1")
        return {name: site / "site" / name / "index.html" for name, _ in sources}
    return print_site


def pelican(theme):
    def print_site(tools, site, sources):
        write_all(site / "content", sources, lambda name, index:
                  f"Title: {name}\nDate: 2025-{index % 12 + 1:02}-11\nCategory: notes\nTags: weir, gate\nSlug: {name}\n\n")
        (site / "conf.py").write_text(f"SITENAME='Handbook'\nTHEME={theme!r}\nMARKDOWN={{'extensions':['tables','fenced_code']}}\n")
        tools.run(tools.python / "pelican", "content", "-o", "out", "-s", "conf.py", "-q", cwd=site)
        return {name: site / "out" / f"{name}.html" for name, _ in sources}
    return print_site


def pdoc(tools, site, sources):
    package = site / "handbook"
    package.mkdir()
    (package / "__init__.py").write_text("'''A handbook.'''\n")
    for name, text in sources:
        (package / f"m_{name.replace('-', '_')}.py").write_text(f"__doc__ = {text!r}\n", encoding="utf-8")
    # The listing of a module's source would say its text again.
    tools.run(tools.python / "pdoc", "--no-show-source", "--docformat", "markdown", "-o", "out", "./handbook", cwd=site)
    return {name: site / "out/handbook" / f"m_{name.replace('-', '_')}.html" for name, _ in sources}


def hexo(tools, site, sources):
    write_all(site / "source/_posts", sources, lambda name, index:
              f"---\ntitle: {name}\ndate: 2025-01-{index % 28 + 1:02} 10:00:00\ntags: [weir, gate]\ncategories: notes\n---\n")
    (site / "_config.yml").write_text("title: Handbook\nurl: http://localhost\npermalink: :title/\ntheme: landscape\n"
                                      "syntax_highlighter: highlight.js\n")
    versions = {n: "*" for n in ("hexo-renderer-marked", "hexo-renderer-ejs", "hexo-renderer-stylus", "hexo-generator-index",
                                 "hexo-generator-archive", "hexo-theme-landscape")}
    (site / "package.json").write_text(json.dumps({"name": "site", "hexo": {"version": ""}, "dependencies": {"hexo": "*", **versions}}))
    (site / "node_modules").symlink_to(tools.modules)
    tools.run(tools.modules / ".bin/hexo", "generate", cwd=site)
    return {name: site / "public" / name / "index.html" for name, _ in sources}


def vitepress(tools, site, sources):
    write_all(site, sources)
    (site / "index.md").write_text("# Handbook\n")
    items = json.dumps([{"text": name, "link": f"/{name}"} for name, _ in sources])
    (site / ".vitepress").mkdir()
    (site / ".vitepress/config.mjs").write_text(
        f"export default {{title:'Handbook',ignoreDeadLinks:true,markdown:{{html:false}},themeConfig:{{sidebar:{items},"
        "nav:[{text:'Guide',link:'/'}],footer:{message:'MIT',copyright:'Copyright 2026 Weirside'}}}\n")
    (site / "node_modules").symlink_to(tools.modules)
    tools.run(tools.modules / ".bin/vitepress", "build", cwd=site)
    return {name: site / ".vitepress/dist" / f"{name}.html" for name, _ in sources}


def honkit(tools, site, sources):
    write_all(site, sources)
    (site / "README.md").write_text("# Handbook\n")
    (site / "SUMMARY.md").write_text("# Summary\n\n" + "".join(f"* [{name}]({name}.md)\n" for name, _ in sources))
    (site / "node_modules").symlink_to(tools.modules)
    tools.run(tools.modules / ".bin/honkit", "build", cwd=site)
    return {name: site / "_book" / f"{name}.html" for name, _ in sources}


MODULE = "/** Opens a gate.\n * @module gates */\n/** Lifts it.\n * @param {number} n how far */\nexport function lift(n) { return n; }\n"


def jsdoc(theme):
    def print_site(tools, site, sources):
        (site / "gates.js").write_text(MODULE)
        pages = {}
        for name, text in sources[:16]:  # a site for each README
            (site / f"{name}.md").write_text(text, encoding="utf-8")
            template = ["-t", str(tools.modules / theme)] if theme else []
            tools.run(tools.modules / ".bin/jsdoc", "-R", f"{name}.md", "-d", f"out-{name}", *template, "gates.js", cwd=site)
            pages[name] = site / f"out-{name}" / "index.html"
        return pages
    return print_site


def typedoc(tools, site, sources):
    (site / "gates.ts").write_text("/** Lifts it. */\nexport function lift(n: number): number { return n; }\n")
    (site / "tsconfig.json").write_text('{"compilerOptions":{"skipLibCheck":true,"types":[]},"files":["gates.ts"]}')
    (site / "node_modules").symlink_to(tools.modules)
    pages = {}
    for name, text in sources[:12]:
        (site / f"{name}.md").write_text(text, encoding="utf-8")
        tools.run(tools.modules / ".bin/typedoc", "--entryPoints", "gates.ts", "--readme", f"{name}.md", "--out", f"out-{name}", "--name",
                  "Handbook", cwd=site)
        pages[name] = site / f"out-{name}" / "index.html"
    return pages


SYSTEMS = {
    **{f"sphinx/{t}": sphinx(t) for t in ("alabaster", "classic", "nature", "furo", "sphinx_rtd_theme", "pydata_sphinx_theme",
                                          "sphinx_book_theme", "bizstyle", "haiku")},
    **{f"mkdocs/{t}": mkdocs(t) for t in ("mkdocs", "readthedocs", "material", "windmill")},
    **{f"pelican/{t}": pelican(t) for t in ("notmyidea", "simple")},
    "pdoc": pdoc, "hexo/landscape": hexo, "vitepress": vitepress, "honkit": honkit, "typedoc": typedoc,
    **{f"jsdoc/{t or 'default'}": jsdoc(t) for t in ("", "docdash")},
}
