"""References: classes and functions whose comments are the sections of a source, printed by generators of references."""
import re

from facts import PARSER, of_markdown
from sources import FENCE

MOST = 8
FEWEST_WORDS = 12
SCALES = ("count", "depth", "name", "width")


def members_of(text):
    """-> [(name, parameters, Markdown)]: one member a section, without headings and code that would end a comment"""
    clean = re.sub(r"^(?:```|~~~)", "```", text, flags=re.M)
    fences = [m.span() for m in FENCE.finditer(clean)]
    found, starts = [], [m for m in re.finditer(r"^#{2,5} (.+)$", clean, re.M) if not any(a <= m.start() < b for a, b in fences)]
    for index, start in enumerate(starts):
        end = starts[index + 1].start() if index + 1 < len(starts) else len(clean)
        words = re.findall(r"[a-z]{2,}", start[1].lower())[:3]
        body = clean[start.end():end].strip()
        plain = len(re.findall(r"\w+", FENCE.sub("", body))) >= FEWEST_WORDS
        if words and plain and "*/" not in body and "@" not in body and '"""' not in body and "[" not in body:
            found.append((f"{'_'.join(words)}_{len(found)}", SCALES[:len(found) % 3 + 1], body))
    return found[:MOST]


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def truth(source, signature):
    """-> (blocks, facts) of the page that shows all members"""
    blocks, facts = of_markdown("# Gate")
    for name, parameters, body in members_of(source.text):
        said, more = of_markdown(body)
        blocks += [{"kind": "signature", "text": signature(name, parameters)}, *said]
        for kind, values in more.items():
            facts[kind] += values
        facts["signatures"].append(signature(name, parameters))
    facts["headings"] = []
    return blocks, facts


def comment(body, indent, sign):
    return "".join(f"{indent}{sign} {line}".rstrip() + "\n" for line in body.split("\n"))


def write_python(source):
    lines = ['"""The gates of a weir."""\n\n\nclass Gate:\n    """A gate."""\n']
    for name, parameters, body in members_of(source.text):
        text = body.replace("\\", "\\\\").replace("\n", "\n        ")
        typed = ", ".join(f"{p}: int" for p in parameters)
        lines.append(f'\n    def {name}(self, {typed}) -> bool:\n        """{text}\n        """\n        return True\n')
    return "".join(lines)


def pdoc(tools, site, sources):
    (site / "handbook").mkdir()
    (site / "handbook/__init__.py").write_text("'''A handbook.'''\n")
    for source in sources:
        (site / f"handbook/m_{source.name.replace('-', '_')}.py").write_text(write_python(source), encoding="utf-8")
    tools.run(tools.python / "pdoc", "--no-show-source", "--docformat", "markdown", "-o", "out", "./handbook", cwd=site)
    return {source.name: site / "out/handbook" / f"m_{source.name.replace('-', '_')}.html" for source in sources}


def rustdoc(tools, site, sources):
    paths = {}
    for source in sources:
        crate = "m_" + source.name.replace("-", "_")
        lines = ["//! The gates of a weir.\n\n/// A gate.\npub struct Gate;\n\nimpl Gate {\n"]
        for name, parameters, body in members_of(source.text):
            typed = "".join(f", {p}: u32" for p in parameters)
            lines.append(f"{comment(body, '    ', '///')}    pub fn {name}(&self{typed}) -> bool {{ true }}\n\n")
        (site / f"{crate}.rs").write_text("".join(lines) + "}\n", encoding="utf-8")
        tools.run("rustdoc", f"{crate}.rs", "--crate-name", crate, "-o", "out", cwd=site)
        paths[source.name] = site / "out" / crate / "struct.Gate.html"
    return paths


def write_script(source, is_typed):
    of, bool_of = (": number", ": boolean") if is_typed else ("", "")
    lines = [("export " if is_typed else "") + "class Gate {\n"]
    lines.insert(0, "/** A gate. */\n")
    for name, parameters, body in members_of(source.text):
        types = "" if is_typed else "".join(f"   * @param {{number}} {p}\n" for p in parameters) + "   * @returns {boolean}\n"
        typed = ", ".join(p + of for p in parameters)
        lines.append(f"  /**\n{comment(body, '  ', ' *')}{types}   */\n  {camel(name)}({typed}){bool_of} {{ return true; }}\n\n")
    return "".join(lines) + "}\n"


def typedoc(tools, site, sources):
    (site / "node_modules").symlink_to(tools.modules)
    for source in sources:
        (site / f"{source.name}.ts").write_text(write_script(source, True), encoding="utf-8")
        (site / "tsconfig.json").write_text(f'{{"compilerOptions":{{"skipLibCheck":true,"types":[]}},"files":["{source.name}.ts"]}}')
        tools.run(tools.modules / ".bin/typedoc", "--entryPoints", f"{source.name}.ts", "--readme", "none", "--disableSources", "--out",
                  f"out-{source.name}", "--name", "Handbook", cwd=site)
    return {source.name: site / f"out-{source.name}" / "classes/Gate.html" for source in sources}


def jsdoc(tools, site, sources):
    (site / "conf.json").write_text('{"plugins":["plugins/markdown"],"templates":{"default":{"outputSourceFiles":false}}}')
    for source in sources:
        (site / f"{source.name}.js").write_text(write_script(source, False), encoding="utf-8")
        tools.run(tools.modules / ".bin/jsdoc", "-c", "conf.json", "-d", f"out-{source.name}", f"{source.name}.js", cwd=site)
    return {source.name: site / f"out-{source.name}" / "Gate.html" for source in sources}


def javadoc(tools, site, sources):
    for source in sources:
        folder = site / source.name
        folder.mkdir()
        lines = ["/** A gate. */\npublic class Gate {\n"]
        for name, parameters, body in members_of(source.text):
            typed = ", ".join(f"int {p}" for p in parameters)
            html = PARSER.render(body).replace("@", "&#64;").replace("*/", "*&#47;")
            lines.append(f"  /**\n{comment(html, '  ', ' *')}   */\n  public boolean {camel(name)}({typed}) {{ return true; }}\n\n")
        (folder / "Gate.java").write_text("".join(lines) + "}\n", encoding="utf-8")
        tools.run("javadoc", "-quiet", "-Xdoclint:none", "-encoding", "UTF-8", "-d", "out", "Gate.java", cwd=folder)
    return {source.name: site / source.name / "out/Gate.html" for source in sources}


REFERENCES = {"pdoc": pdoc, "rustdoc": rustdoc, "typedoc": typedoc, "jsdoc": jsdoc, "javadoc": javadoc}
SIGNATURES = {
    "pdoc": lambda name, ps: f"def {name}(self, {', '.join(f'{p}: int' for p in ps)}) -> bool",
    "rustdoc": lambda name, ps: f"pub fn {name}(&self, {', '.join(f'{p}: u32' for p in ps)}) -> bool",
    "typedoc": lambda name, ps: f"{camel(name)}({', '.join(f'{p}: number' for p in ps)}): boolean",
    "jsdoc": lambda name, ps: f"{camel(name)}({', '.join(ps)}) → {{boolean}}",
    "javadoc": lambda name, ps: f"public boolean {camel(name)}({', '.join(f'int {p}' for p in ps)})",
}
