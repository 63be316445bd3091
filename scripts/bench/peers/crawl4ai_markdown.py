"""Crawl4AI's Markdown of a page that is at hand, as its documentation advises for articles: with its pruning filter."""

import asyncio
import os
import sys

# It is read at import; by default its database is in the home directory.
os.environ |= {"CRAWL4_AI_BASE_DIRECTORY": sys.prefix, "CRAWL4AI_NO_CLOUD_NOTICE": "1"}

from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.content_filter_strategy import PruningContentFilterLXML
from crawl4ai.markdown_generation_strategy import DefaultMarkdownGenerator


def create_writer(options, pruned=True):
    """`options` are those of its html2text. Nothing is fetched: the page is given as `raw:`."""
    loop = asyncio.new_event_loop()
    crawler = AsyncWebCrawler(crawler_strategy=AsyncHTTPCrawlerStrategy())
    loop.run_until_complete(crawler.start())
    generator = DefaultMarkdownGenerator(content_filter=PruningContentFilterLXML() if pruned else None, options=options)

    def write(html, url):
        config = CrawlerRunConfig(markdown_generator=generator, base_url=url, cache_mode=CacheMode.BYPASS, verbose=False)
        result = loop.run_until_complete(crawler.arun(f"raw:{html}", config=config))
        if not result.success:
            raise RuntimeError(result.error_message)
        return (result.markdown.fit_markdown if pruned else result.markdown.raw_markdown) or ""

    return write
