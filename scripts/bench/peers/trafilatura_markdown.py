"""trafilatura's Markdown, page by page: a JSON line {path, url, out} for each, answered as markdown-peer.ts does."""

import json
import sys
from pathlib import Path

from trafilatura import extract

for line in sys.stdin:
    page = json.loads(line)
    outcome = "ok"
    try:
        markdown = extract(
            Path(page["path"]).read_text(encoding="utf-8", errors="replace"),
            url=page["url"],
            output_format="markdown",
            include_links=True,
            include_tables=True,
            include_formatting=True,
        )
    except Exception as error:
        markdown, outcome = None, type(error).__name__
    Path(page["out"]).write_text(markdown or "", encoding="utf-8")
    print(outcome, flush=True)
