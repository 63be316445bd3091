"""Crawl4AI over one site: SEED OUTPUT_DIR CONCURRENCY [CHROMIUM]. Each page becomes a Markdown file.

With CHROMIUM its browser fetches the pages, else its HTTP strategy. Its pruning filter takes frames off the pages.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# It is read at import; by default its database is in the home directory.
os.environ |= {"CRAWL4_AI_BASE_DIRECTORY": sys.prefix, "CRAWL4AI_NO_CLOUD_NOTICE": "1"}

from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.content_filter_strategy import PruningContentFilterLXML
from crawl4ai.deep_crawling import BFSDeepCrawlStrategy
from crawl4ai.markdown_generation_strategy import DefaultMarkdownGenerator

# Its limit of pages also counts those that robots.txt forbids, so it takes the whole site.
seed, output, concurrency = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
chromium = sys.argv[4] if len(sys.argv) > 4 else None


def start_chromium(profile):
    """Its Playwright starts only browsers that it has downloaded itself; others are reached by their debugging port."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    command = [chromium, *flags, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    browser = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in browser.stderr:
        found = re.search(r"DevTools listening on (ws://\S+)", line)
        if found:
            return browser, found[1]
    raise RuntimeError(f"{chromium} ended before it listened")


async def crawl(**crawler):
    config = CrawlerRunConfig(
        deep_crawl_strategy=BFSDeepCrawlStrategy(max_depth=100),
        markdown_generator=DefaultMarkdownGenerator(content_filter=PruningContentFilterLXML()),
        cache_mode=CacheMode.BYPASS,
        check_robots_txt=True,
        stream=True,
        semaphore_count=concurrency,
        mean_delay=0,
        max_range=0,
        verbose=False,
    )
    async with AsyncWebCrawler(**crawler) as crawler:
        async for result in await crawler.arun(seed, config=config):
            if result.success:
                name = result.url.split("://", 1)[1].replace("/", "__").replace(":", "_")
                (output / f"{name}.md").write_text(result.markdown.fit_markdown, encoding="utf-8")


output.mkdir(parents=True, exist_ok=True)
if chromium is None:
    asyncio.run(crawl(crawler_strategy=AsyncHTTPCrawlerStrategy(max_connections=concurrency)))
else:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser, address = start_chromium(profile)
        try:
            asyncio.run(crawl(config=BrowserConfig(cdp_url=address, browser_mode="cdp", headless=True, verbose=False)))
        finally:
            browser.terminate()
            browser.wait()
