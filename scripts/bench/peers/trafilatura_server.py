"""trafilatura behind FastAPI, as one would write it: POST / {"url"} gives title, Markdown, HTML and text as JSON."""

import sys

import trafilatura
import uvicorn
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from trafilatura.settings import use_config

CONFIG = use_config()
CONFIG.set("DEFAULT", "DOWNLOAD_TIMEOUT", "30")
app = FastAPI()


class Request(BaseModel):
    url: str


@app.get("/health")
async def health():
    return {"status": "healthy"}


# Not async: FastAPI runs it on a thread, as what waits and computes should be.
@app.post("/")
def extract(request: Request):
    page = trafilatura.fetch_url(request.url, config=CONFIG)
    if page is None:
        raise HTTPException(502)
    document = trafilatura.bare_extraction(page, url=request.url, with_metadata=True)
    if document is None:
        raise HTTPException(422)
    markdown = trafilatura.extract(page, url=request.url, output_format="markdown")
    return {"title": document.title, "author": document.author, "text": document.text, "markdown": markdown}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
