# Every target runs through scripts/bun, which finds or installs the pinned Bun; nothing else is needed.
BUN := sh scripts/bun
INSTALLED := node_modules/.installed

.PHONY: help demo sample-site docs test test-unit test-slow test-all test-scale build release version library packages check-names image check format install uninstall modules clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z%-]*\):.*## /\1: /p' Makefile

demo: $(INSTALLED) ## build, then extract, crawl and search the small site in test/site
	$(BUN) scripts/demo.ts

sample-site: $(INSTALLED) ## [PORT=38000]: serve the site of the documentation's examples on loopback, until Ctrl-C
	@$(BUN) scripts/sample-site.ts $(foreach set,$(MAKEOVERRIDES),$(call option,$(set)))

test: check build library ## what everybody can run: minutes on an idle machine
	sh scripts/ensure.sh fast
	$(BUN) scripts/test.ts --fast

test-slow: build library packages ## the other tests: browsers, PostgreSQL and S3, packages, documentation, hostile input, real clients
	sh scripts/ensure.sh slow
	$(BUN) scripts/test.ts --slow

test-unit: $(INSTALLED) ## [ROOM=urls]: the quick tests; nothing is built, no server started
	$(BUN) test --parallel --no-isolate test/unit/$(ROOM)

test-all: check build library packages ## all of both, and the long runs
	sh scripts/ensure.sh all
	$(BUN) scripts/test.ts --all

test-scale: build ## several processes on PostgreSQL and S3 while all of them fail in turn; a quarter of an hour
	sh scripts/ensure.sh scale
	$(BUN) scripts/test.ts --scale

build: $(INSTALLED) ## dist/article-extractor, one self-contained file
	$(BUN) scripts/build.ts

release: library ## [KEY=minisign.key PLATFORMS=linux-x64 TRIAL=yes]: all that is published, into dist/release
	$(BUN) scripts/release/release.ts $(foreach set,$(MAKEOVERRIDES),$(call option,$(set)))

version: $(INSTALLED) ## VERSION=1.2.3: give what is unreleased a version, to be committed
	$(BUN) scripts/release/notes.ts $(foreach set,$(MAKEOVERRIDES),$(call option,$(set)))

library: $(INSTALLED) ## dist/lib, for Bun and Node
	$(BUN) scripts/build-library.ts

packages: build library ## dist/packages, what npm, pip, apt and a shell install, for this machine
	$(BUN) scripts/package/packages.ts

check-names: $(INSTALLED) ## whose the names of our packages are on npm and PyPI
	$(BUN) scripts/check-names.ts

image: build ## [FLAVOUR=slim PLATFORMS=amd64,arm64 BASE=image]: container images, with podman or docker
	$(BUN) scripts/package/image.ts $(foreach set,$(MAKEOVERRIDES),$(call option,$(set)))

docs: $(INSTALLED) ## [BASE=/docs/]: dist/docs, the documentation as a site of plain files
	$(BUN) scripts/docs.ts $(if $(BASE),--base "$(BASE)")

check: $(INSTALLED) ## formatting, lint, types, dead code, unchanged tests of the specification
	$(BUN) x biome check --error-on-warnings .
	$(BUN) x tsc --noEmit
	$(BUN) x knip-bun
	$(BUN) scripts/specification.ts

format: $(INSTALLED) ## format and apply the linter's safe fixes
	$(BUN) x biome check --write .

# A folder that only root may write: make build && sudo make install PREFIX=/usr/local
PREFIX = $(HOME)/.local

install: build ## [PREFIX=~/.local]: the program, its manual page and completions
	sh scripts/install-program.sh install "$(PREFIX)"

uninstall: ## [PREFIX=~/.local]: remove what `make install` put there
	sh scripts/install-program.sh uninstall "$(PREFIX)"

modules: $(INSTALLED) ## the locked packages that the sources import

$(INSTALLED): bun.lock package.json
	$(BUN) install --frozen-lockfile
	@touch $@

# The variables of the command line are the script's options: PEER=scrapy is --peer scrapy.
option = --$(shell printf %s '$(firstword $(subst =, ,$(1)))' | tr A-Z_ a-z-) "$(patsubst $(firstword $(subst =, ,$(1)))=%,%,$(1))"

bench-%: build ## a script of scripts/bench: browser, callers, crawl, documents, extraction, fragments, markdown, mcp, scale, search, search-quality, serve, startup, sync
	$(BUN) scripts/bench/$*.ts $(foreach set,$(MAKEOVERRIDES),$(call option,$(set)))

clean: ## remove what was built
	rm -rf dist build
