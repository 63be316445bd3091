"""The texts that are printed: Markdown and reStructuredText of packages, without what systems read in different ways."""
import json
import re
import tarfile
import zlib
from pathlib import Path
from typing import NamedTuple

from facts import of_markdown

FEWEST_WORDS = 120
MOST_CHARACTERS = 40_000
# Templates of Hexo, Jekyll, Vue, Astro and MDX would read these as their own.
TEMPLATE = re.compile(r"\{\{|\{%|\{#|<%|:::")
MARKUP_OF_MDX = re.compile(r"[{}<>]|^(?:import|export)\s", re.M)
WORD = re.compile(r"\w+|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
FENCE = re.compile(r"^(?:```.*?^```|~~~.*?^~~~)\s*$", re.M | re.S)
PARAGRAPH = re.compile(r"(?<=\n\n)([^\W\d_][^\n]{40,400})(?=\n\n)")
KINDS = ("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION")
# What docutils and Sphinx know by themselves; other directives and roles are of a project's own extensions.
DIRECTIVES = frozenset("""note tip important warning caution danger hint attention error code-block code sourcecode table
    list-table csv-table function method class attribute data exception module currentmodule classmethod staticmethod option
    program envvar versionadded versionchanged deprecated seealso rubric highlight topic contents decorator property
    describe object index only math image figure""".split())
ROLES = frozenset("""func meth class attr exc mod data obj ref doc term option envvar program file command samp kbd pep rfc abbr
    guilabel menuselection code literal emphasis strong sub sup title any const""".split())


class Source(NamedTuple):
    name: str
    text: str  # Markdown with GitHub's alerts, or reStructuredText
    format: str  # "md" or "rst"
    package: str


def find(folders, limit):
    """-> [Source], at most so many, spread over the packages; archives of npm and of PyPI, and installed packages"""
    found = []
    for folder in folders:
        for package, path, text in files_of(Path(folder)):
            name = re.sub(r"[^a-z0-9]+", "-", f"{package}-{Path(path).with_suffix('')}".lower()).strip("-")
            source = read(name, path, text[:MOST_CHARACTERS], package)
            if source:
                found.append(source)
    unique = {source.name: source for source in found}
    forms = ("md", "rst")
    return [source for form in forms for source in spread([s for s in unique.values() if s.format == form], limit)]


def spread(sources, limit):
    """Takes of each package in turn, so that no large manual fills the press."""
    turns, seen = [], {}
    for source in sources:
        seen[source.package] = seen.get(source.package, 0) + 1
        turns.append((seen[source.package], source))
    return [source for _, source in sorted(turns, key=lambda turn: turn[0])][:limit]


def files_of(folder):
    if folder.name == "node_modules":
        for path in sorted(folder.glob("*/README.md")) + sorted(folder.glob("@*/*/README.md")):
            yield str(path.parent.relative_to(folder)), "README.md", path.read_text(encoding="utf-8", errors="replace")
        return
    for archive in archives_of(folder):
        package = package_of(archive)
        texts = members_of(archive, r"(?i)^(?:readme[^/]*\.md|(?:docs?|documentation|lang)/.*\.(?:md|rst))$")
        for path, text in sorted(texts.items()):
            yield package, path, text


def archives_of(folder):
    return sorted([*folder.glob("*.tgz"), *folder.glob("*.tar.gz")])


def package_of(archive):
    return re.sub(r"-v?\d[^/]*$", "", archive.name)


def members_of(archive, pattern):
    """-> {path below the archive's one folder: text}; read in one go, since a step back unpacks all again"""
    found = {}
    with tarfile.open(archive, "r|gz") as tar:
        for member in tar:
            path = member.name.split("/", 1)[-1]
            if member.isfile() and re.match(pattern, path):
                found[path] = tar.extractfile(member).read().decode("utf-8", "replace")
    return found


def read(name, path, text, package):
    if path.lower().endswith(".rst"):
        return Source(name, text, "rst", package) if is_plain_rst(text) else None
    text = with_alert(tidy(text), zlib.crc32(name.encode()))
    if TEMPLATE.search(text) or len(WORD.findall(text)) < FEWEST_WORDS:
        return None
    return Source(name, text, "md", package)


def is_plain_rst(text):
    directives = set(re.findall(r"^\s*\.\. ([\w:-]+)::", text, re.M))
    roles = set(re.findall(r":([\w:+-]+):`", text))
    strange = {d.removeprefix("py:") for d in directives} - DIRECTIVES | {r.removeprefix("py:") for r in roles} - ROLES
    return not strange and len(WORD.findall(text)) >= FEWEST_WORDS


def tidy(text):
    """Markdown without HTML, front matter, badges and comments; it starts with a heading of level 1."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text.replace("\r\n", "\n"), flags=re.S)
    parts = re.split(f"({FENCE.pattern})", text, flags=re.M | re.S)
    for index in range(0, len(parts), 2):
        part = re.sub(r"<!--.*?-->", "", parts[index], flags=re.S)
        part = re.sub(r"</?[a-zA-Z][^>]{0,500}>", "", part)
        parts[index] = re.sub(r"\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])(?:\]\([^)]*\)|\]\[[^\]]*\])?", "", part)
    text = "".join(parts).strip() + "\n"
    first = next((line for line in text.split("\n") if line.strip()), "")
    return text if first.startswith("# ") else f"# Read me first\n\n{text}"


def with_alert(text, number):
    """Makes an admonition of one paragraph of every second text."""
    if number % 2 or "[!" in text:
        return text
    spans = [m.span() for m in FENCE.finditer(text)]
    for match in list(PARAGRAPH.finditer(text))[1:]:
        if not any(start <= match.start() < end for start, end in spans):
            kind = KINDS[number // 2 % len(KINDS)]
            return f"{text[:match.start()]}> [!{kind}]\n> {match[0]}{text[match.end():]}"
    return text


ALERT = re.compile(r"^> \[!(\w+)\][ ]*\n((?:>.*\n?)*)", re.M)


def write_alerts(text, form):
    """The text with its admonitions in the form of one system; `bold` where a system knows none."""
    def write(match):
        kind, lines = match[1].lower(), [re.sub(r"^> ?", "", line) for line in match[2].rstrip("\n").split("\n")]
        body = "\n".join(lines)
        indented = "\n".join(f"    {line}" if line else "" for line in lines)
        return {
            "github": match[0],
            "bold": f"> **{kind.upper()}**\n>\n{match[2]}",
            "myst": f"```{{{kind}}}\n{body}\n```\n",
            "python": f"!!! {kind}\n\n{indented}\n",
            "docusaurus": f":::{DOCUSAURUS.get(kind, kind)}\n\n{body}\n\n:::\n",
            "starlight": f":::{STARLIGHT.get(kind, kind)}\n{body}\n:::\n",
        }[form]
    return ALERT.sub(write, text)


DOCUSAURUS = {"important": "info", "caution": "danger"}
STARLIGHT = {"important": "note", "warning": "caution", "caution": "danger"}


def licences(sources, folders):
    """-> {package: licence as it says itself}"""
    wanted, found = {source.package for source in sources}, {}
    for folder in map(Path, folders):
        if folder.name == "node_modules":
            for package in wanted:
                manifest = folder / package / "package.json"
                if manifest.exists():
                    found[package] = str(json.loads(manifest.read_text()).get("license", "?"))
            continue
        for archive in archives_of(folder):
            for path, text in members_of(archive, r"(?:package\.json|PKG-INFO)$").items():
                found[package_of(archive)] = licence_in(path, text)
    return {package: found.get(package, "?") for package in sorted(wanted)}


def licence_in(path, text):
    if path == "package.json":
        return str(json.loads(text).get("license", "?"))
    said = re.search(r"^License(?:-Expression)?: (.+)$", text, re.M) or re.search(r":: OSI Approved :: (.+)$", text, re.M)
    return said[1] if said else "?"
