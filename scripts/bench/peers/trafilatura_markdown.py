"""trafilatura's Markdown of a set of pages: PAGES OUT LIST; writes OUT/ID.md for each id of the LIST."""

import json
import sys
from pathlib import Path

from trafilatura import extract


def main(pages: str, out: str, ids: str) -> None:
    for page in json.loads(Path(ids).read_text(encoding="utf-8")):
        html = Path(pages, "html", f"{page['id']}.html").read_text(encoding="utf-8", errors="replace")
        markdown = extract(
            html,
            url=page["url"],
            output_format="markdown",
            include_links=True,
            include_tables=True,
            include_formatting=True,
        )
        Path(out, f"{page['id']}.md").write_text(markdown or "", encoding="utf-8")


main(*sys.argv[1:])
