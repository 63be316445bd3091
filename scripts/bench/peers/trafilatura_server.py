"""trafilatura behind FastAPI, as one would write it: POST / {"url"} gives title, author, text and Markdown as JSON.

Pages are fetched with httpx: trafilatura's own fetcher refuses loopback, where the bench's site is.
"""

import sys

import httpx
import trafilatura
import uvicorn
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

client = httpx.Client(timeout=30, follow_redirects=True, limits=httpx.Limits(max_connections=64))
app = FastAPI()


class Request(BaseModel):
    url: str


@app.get("/health")
async def health():
    return {"status": "healthy"}


# Not async: FastAPI runs it on a thread, as what waits and computes should be.
@app.post("/")
def extract(request: Request):
    answer = client.get(request.url)
    if answer.status_code != 200:
        raise HTTPException(502)
    page = answer.text
    document = trafilatura.bare_extraction(page, url=request.url, with_metadata=True)
    if document is None:
        raise HTTPException(422)
    markdown = trafilatura.extract(page, url=request.url, output_format="markdown")
    return {"title": document.title, "author": document.author, "text": document.text, "markdown": markdown}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
