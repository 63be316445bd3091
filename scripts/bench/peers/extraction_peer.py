"""Programs for Python as contenders of the bench: NAME JOB. Measures as measure-pages.ts does, in one process."""

import json
import resource
import sys
import time
from pathlib import Path


def trafilatura():
    from trafilatura import bare_extraction

    def extract(html, url):
        document = bare_extraction(html, url=url, with_metadata=True)
        if document is None:
            return {"text": "", "title": None, "author": None, "date": None}
        text = "\n".join(part for part in (document.text, document.comments) if part)
        return {"text": text, "title": document.title, "author": document.author, "date": document.date}

    return extract


def resiliparse():
    from resiliparse.extract.html2text import extract_plain_text

    def extract(html, url):
        text = extract_plain_text(html, main_content=True)
        return {"text": text, "title": None, "author": None, "date": None}

    return extract


def crawl4ai():
    from crawl4ai_markdown import create_writer

    # The scorer counts words, and those of addresses are none of the page's.
    write = create_writer({"ignore_links": True, "ignore_images": True})

    def extract(html, url):
        return {"text": write(html, url), "title": None, "author": None, "date": None}

    return extract


CONTENDERS = {"trafilatura": trafilatura, "resiliparse": resiliparse, "crawl4ai": crawl4ai}


def measure(extract, page_id, html, url):
    result, outcome = None, "ok"
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        result = extract(html, url)
        if not result["text"].strip():
            outcome = "no_content"
    except Exception as error:
        outcome = type(error).__name__
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    measured = {"id": page_id, "htmlBytes": len(html.encode()), "cpuMs": cpu * 1000, "wallMs": wall * 1000, "outcome": outcome}
    return result, measured


def read_peak_rss():
    """In bytes; see readPeakRss in measure-pages.ts."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main():
    extract, job = CONTENDERS[sys.argv[1]](), json.loads(sys.argv[2])
    out = Path(job["outDirectory"])
    out.mkdir(parents=True, exist_ok=True)
    source = Path(job["pagesDirectory"])
    pages, meta = [], {}
    listed = json.loads(Path(job["listPath"]).read_text(encoding="utf-8"))

    def read(page):
        html = (source / "html" / f"{page['id']}.html").read_text(encoding="utf-8", errors="replace")
        return measure(extract, page["id"], html, page["url"])

    for page in listed:
        result, measured = read(page)
        pages.append(measured)
        meta[page["id"]] = {key: result and result[key] for key in ("title", "author", "date")}
        (out / f"{page['id']}.txt").write_text(result["text"] if result else "", encoding="utf-8")
        if len(pages) % 250 == 0:
            print(f"  {len(pages)} pages", file=sys.stderr)
    (out / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    last = pages
    for _ in range(1, job["passes"]):
        last = [read(page)[1] for page in listed]
    steady = sum(page["cpuMs"] for page in last) / len(last)
    report = {"pages": pages, "steadyCpuMs": steady, "peakRssBytes": read_peak_rss()}
    Path(job["reportPath"]).write_text(json.dumps(report), encoding="utf-8")


main()
