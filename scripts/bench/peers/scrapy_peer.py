"""Scrapy with trafilatura over one site: SEED OUTPUT_DIR CONCURRENCY PAGES. Each page becomes a Markdown file."""

import sys
from pathlib import Path

import scrapy
import trafilatura
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

seed, output, concurrency, pages = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
output.mkdir(parents=True, exist_ok=True)


class SiteSpider(scrapy.Spider):
    name = "site"
    start_urls = [seed]
    allowed_domains = ["127.0.0.1"]
    links = LinkExtractor()
    stored = 0

    def parse(self, response):
        text = trafilatura.extract(
            response.text, url=response.url, output_format="markdown", with_metadata=True, include_links=True
        )
        if text:
            name = response.url.split("://", 1)[1].replace("/", "__").replace(":", "_")
            (output / f"{name}.md").write_text(text, encoding="utf-8")
            SiteSpider.stored += 1
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url, callback=self.parse)


process = CrawlerProcess(
    settings={
        "CONCURRENT_REQUESTS": concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "CLOSESPIDER_PAGECOUNT": pages,
        # Breadth first, as in Scrapy's FAQ.
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(SiteSpider)
process.start()
print(SiteSpider.stored)
