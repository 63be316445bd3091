"""Programs for Python, page by page: NAME. A JSON line {path, url, out} for each, answered as markdown-peer.ts does."""

import json
import sys
from pathlib import Path


def trafilatura():
    from trafilatura import extract

    return lambda html, url: extract(
        html, url=url, output_format="markdown", include_links=True, include_tables=True, include_formatting=True
    )


def crawl4ai():
    from crawl4ai_markdown import create_writer

    return create_writer({})


write = {"trafilatura": trafilatura, "crawl4ai": crawl4ai}[sys.argv[1]]()
for line in sys.stdin:
    page = json.loads(line)
    outcome = "ok"
    try:
        markdown = write(Path(page["path"]).read_text(encoding="utf-8", errors="replace"), page["url"])
    except Exception as error:
        markdown, outcome = None, type(error).__name__
    Path(page["out"]).write_text(markdown or "", encoding="utf-8")
    print(outcome, flush=True)
