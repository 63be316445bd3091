# Every target runs through scripts/bun, which finds or installs the pinned Bun; nothing else is needed.
BUN := sh scripts/bun

.PHONY: install format check

install: node_modules/.installed ## install the locked packages

node_modules/.installed: bun.lock package.json
	$(BUN) install --frozen-lockfile
	@touch $@

format: install ## format and apply the linter's safe fixes
	$(BUN) x biome check --write .

check: install ## linter, types, dead code
	$(BUN) x biome check --error-on-warnings .
	$(BUN) x tsc --noEmit
