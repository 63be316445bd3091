"""trafilatura behind FastAPI, as one would write it: POST / {"url"} gives title, author and text as JSON.

Pages are fetched with httpx: trafilatura's own fetcher refuses loopback, where the bench's site is.
"""

import sys

import httpx
import trafilatura
import uvicorn
from fastapi import FastAPI, HTTPException, Response
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
    # One pass over the page; a second one for Markdown would double its cost.
    article = trafilatura.extract(page, url=request.url, output_format="json", with_metadata=True)
    if article is None:
        raise HTTPException(422)
    return Response(article, media_type="application/json")


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
