"""tantivy as search.ts measures it: PHASE SECTIONS QUERIES INDEX_DIR. Stemmed words, any of them, with a snippet.

It prints a JSON object with what `search/run-contender.ts` prints for the other engines.
"""

import json
import re
import resource
import sys
import time
from pathlib import Path

import tantivy

HITS = 10
PASSES = 5
OPENINGS = 20
SNIPPET_CHARACTERS = 200
TITLE_WEIGHT = 0.6

phase, sections, queries, directory = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])


def lines(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def schema():
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw")
    for field in ("title", "text"):
        builder.add_text_field(field, stored=True, tokenizer_name="en_stem")
    return builder.build()


def build():
    documents = lines(sections)
    directory.mkdir(parents=True)
    start = time.process_time()
    index = tantivy.Index(schema(), path=str(directory))
    writer = index.writer()
    for document in documents:
        writer.add_document(
            tantivy.Document(url=document["url"], title=document["title"], text=document["markdown"])
        )
    writer.commit()
    writer.wait_merging_threads()
    return {
        "sections": len(documents),
        "textBytes": sum(len(document["markdown"].encode()) for document in documents),
        "buildCpuMs": (time.process_time() - start) * 1000,
        "buildPeakRssBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "indexBytes": sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()),
    }


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def search():
    openings = []
    for _ in range(OPENINGS):
        start = time.perf_counter()
        index = tantivy.Index.open(str(directory))
        index.reload()
        searcher = index.searcher()
        openings.append((time.perf_counter() - start) * 1000)
    asked = lines(queries)
    fastest = [float("inf")] * len(asked)
    found = 0
    cpu = time.process_time()
    for turn in range(PASSES):
        for number, query in enumerate(asked):
            start = time.perf_counter()
            words = " ".join(re.findall(r"\w+", query["text"]))
            parsed, _ = index.parse_query_lenient(words, ["title", "text"], field_boosts={"title": TITLE_WEIGHT})
            snippets = tantivy.SnippetGenerator.create(searcher, parsed, index.schema, "text")
            snippets.set_max_num_chars(SNIPPET_CHARACTERS)
            hits = []
            for score, address in searcher.search(parsed, HITS).hits:
                document = searcher.doc(address)
                hits.append((document["url"], document["title"], snippets.snippet_from_doc(document).to_html()))
            fastest[number] = min(fastest[number], (time.perf_counter() - start) * 1000)
            found += turn == 0 and len(hits) > 0
        if turn == 0:
            cpu = time.process_time()
    cpu = (time.process_time() - cpu) * 1000 / len(asked) / (PASSES - 1)
    if found < len(asked) * 0.8:
        raise SystemExit(f"tantivy finds something for {found} of {len(asked)} queries")

    def latencies(group=None):
        values = [ms for ms, query in zip(fastest, asked) if group in (None, query["group"])]
        return {f"p{share}": percentile(values, share / 100) for share in (50, 95, 99)}

    return {
        "openMs": percentile(openings, 0.5),
        "queries": len(asked),
        "withHits": found,
        "queryCpuMs": cpu,
        "anonymousGrowthBytes": None,
        "all": latencies(),
        **{group: latencies(group) for group in ("words", "identifier", "question")},
    }


print(json.dumps({"name": "tantivy", "phase": phase, **(build() if phase == "build" else search())}))
