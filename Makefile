# Every target runs through scripts/bun, which finds or installs the pinned Bun; nothing else is needed.
BUN := sh scripts/bun
INSTALLED := node_modules/.installed

.PHONY: help demo test test-unit test-all build release library check format install bench-extraction bench-markdown bench-fetch bench-crawl bench-search bench-search-quality bench-mcp bench-serve bench-startup bench-sync bench-browser clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile

demo: $(INSTALLED) ## build, then extract, crawl and search the small site in test/site
	$(BUN) scripts/demo.ts

test: check build library ## all tests that matter, at most 15 minutes
	sh scripts/ensure-chromium.sh
	sh scripts/ensure-nginx.sh
	sh scripts/ensure-xvfb.sh
	$(BUN) scripts/test.ts

test-unit: $(INSTALLED) ## [ROOM=urls]: the quick tests; nothing is built, no server started
	$(BUN) test --parallel --no-isolate --timeout=30000 test/unit/$(ROOM)

test-all: check build library ## the tests and the long runs
	sh scripts/ensure-chromium.sh
	sh scripts/ensure-nginx.sh
	sh scripts/ensure-xvfb.sh
	$(BUN) scripts/test.ts --all

build: $(INSTALLED) ## dist/article-extractor, one self-contained file
	$(BUN) scripts/build.ts

release: $(INSTALLED) ## dist/release/, every target with SHA-256 sums
	$(BUN) scripts/build.ts --release

library: $(INSTALLED) ## dist/lib, for Bun and Node
	$(BUN) scripts/build-library.ts

check: $(INSTALLED) ## formatting, lint, types, dead code
	$(BUN) x biome check --error-on-warnings .
	$(BUN) x tsc --noEmit
	$(BUN) x knip-bun

format: $(INSTALLED) ## format and apply the linter's safe fixes
	$(BUN) x biome check --write .

install: $(INSTALLED) ## install the locked packages

$(INSTALLED): bun.lock package.json
	$(BUN) install --frozen-lockfile
	@touch $@

bench-extraction: $(INSTALLED) ## PAGES=DIR OUT=DIR: quality and cost of extraction
	$(BUN) scripts/bench/extraction.ts --pages "$(PAGES)" --out "$(OUT)" $(if $(LIMIT),--limit $(LIMIT)) $(if $(PEERS),--peers $(PEERS)) $(if $(RUNS),--runs $(RUNS))

bench-markdown: $(INSTALLED) ## PAGES=DIR: Markdown beside the reference and other programs
	$(BUN) scripts/bench/markdown.ts --pages "$(PAGES)" $(if $(LIMIT),--limit $(LIMIT)) $(if $(PEERS),--peers $(PEERS)) $(if $(SHOW),--show $(SHOW)) $(if $(RUNS),--runs $(RUNS))

bench-fetch: $(INSTALLED) ## requests beside undici on Node, the egress check, memory
	$(BUN) scripts/bench/fetch.ts $(if $(REQUESTS),--requests $(REQUESTS)) $(if $(FLAT),--flat $(FLAT))

bench-search-quality: $(INSTALLED) ## COLLECTIONS=DIR RUNS=DIR: ranks labelled queries, for a scorer
	$(BUN) scripts/bench/search-quality.ts --collections "$(COLLECTIONS)" --runs "$(RUNS)" $(if $(ONLY),--only $(ONLY)) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(PROFILE),--profile $(PROFILE))

bench-search: $(INSTALLED) ## COLLECTIONS=DIR: speed of search and of building indexes, beside other engines
	$(BUN) scripts/bench/search.ts --collections "$(COLLECTIONS)" $(if $(SECTIONS),--sections $(SECTIONS)) $(if $(ENGINES),--engines $(ENGINES)) $(if $(OUT),--out $(OUT))

bench-mcp: build ## search over MCP beside the SDK's bare floor, and many small tenants
	$(BUN) scripts/bench/mcp.ts $(if $(PAGES),--pages $(PAGES)) $(if $(CALLS),--calls $(CALLS)) $(if $(RUNS),--runs $(RUNS)) $(if $(TENANTS),--tenants $(TENANTS)) $(if $(OUT),--out $(OUT))

bench-crawl: build ## a site on loopback, PEER=scrapy beside it; FRONTIER=N: claims and settles at N URLs
	$(if $(FRONTIER),$(BUN) scripts/bench/frontier.ts --urls $(FRONTIER),$(BUN) scripts/bench/crawl.ts $(if $(PAGES),--pages $(PAGES)) $(if $(PEER),--peer $(PEER)) $(if $(RUNS),--runs $(RUNS)) $(if $(OUT),--out $(OUT)))

bench-sync: build ## PAGES=N FILES=N: first and later syncs of a website and a repository, searches meanwhile
	$(BUN) scripts/bench/sync.ts $(if $(PAGES),--pages $(PAGES)) $(if $(FILES),--files $(FILES)) $(if $(OUT),--out $(OUT))

bench-serve: build ## serve extractor under load, PEER=trafilatura beside it; SOAK=SECONDS: its memory over time; HOSTILE=N: beside hostile clients and N slow senders
	$(BUN) scripts/bench/serve.ts $(if $(SECONDS),--seconds $(SECONDS)) $(if $(CONNECTIONS),--connections $(CONNECTIONS)) $(if $(PROCESSES),--processes $(PROCESSES)) $(if $(PEER),--peer $(PEER)) $(if $(SOAK),--soak $(SOAK)) $(if $(HOSTILE),--hostile $(HOSTILE)) $(if $(OUT),--out $(OUT))

bench-browser: $(INSTALLED) ## pages through a browser beside plain playwright-core: speed, CPU, memory, what is left
	$(BUN) scripts/bench/browser.ts $(if $(PAGES),--pages $(PAGES)) $(if $(OUT),--out $(OUT))

bench-startup: build ## start of the program beside an empty one, and one page; PEER=trafilatura beside it
	$(BUN) scripts/bench/startup.ts $(if $(RUNS),--runs $(RUNS)) $(if $(PEER),--peer $(PEER))

clean: ## remove what was built
	rm -rf dist build
