"""tantivy as search-quality.ts measures it: CORPUS QUERIES INDEX_DIR HITS. Stemmed words, any of them.

It prints a JSON object: the documents found for each query, and what it took in CPU time.
"""

import json
import re
import sys
import time
from pathlib import Path

import tantivy

corpus, queries, directory, hits = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
# The best of 0.3, 0.6 and 1 on the mean of the collections; 3 loses .3 on one of them.
TITLE_WEIGHT = 0.6


def lines(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


documents = lines(corpus)
builder = tantivy.SchemaBuilder()
builder.add_text_field("id", stored=True, tokenizer_name="raw")
for field in ("title", "text"):
    builder.add_text_field(field, tokenizer_name="en_stem")
directory.mkdir(parents=True)
start = time.process_time()
index = tantivy.Index(builder.build(), path=str(directory))
writer = index.writer()
for document in documents:
    writer.add_document(tantivy.Document(id=document["_id"], title=document["title"], text=document["text"]))
writer.commit()
writer.wait_merging_threads()
build = time.process_time() - start
index.reload()
searcher = index.searcher()
found, times = {}, []
for query in lines(queries):
    words = " ".join(re.findall(r"\w+", query["text"]))
    start = time.process_time()
    parsed, _ = index.parse_query_lenient(words, ["title", "text"], field_boosts={"title": TITLE_WEIGHT})
    top = searcher.search(parsed, hits).hits
    times.append((time.process_time() - start) * 1000)
    found[query["_id"]] = [[searcher.doc(address)["id"][0], score] for score, address in top]
size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
print(json.dumps({"found": found, "cpuMs": times, "buildSeconds": build, "indexBytes": size}))
