# What people type. "make" alone lists it.

GO ?= go
# Flags for every go test of "make test", such as TESTFLAGS='-run TestImports -v'.
TESTFLAGS ?=
# How many random cases the oracles get, and how long each fuzz target runs.
CASES ?= 10000
FUZZTIME ?= 2s
FUZZLONG ?= 15m
TARGETS ?= .
# What "make bench" searches (a folder or git repository, not in here, where go
# would find its packages), what it asks, and whom besides trawl.
CORPUS ?= $(or $(TMPDIR),/tmp)/trawl-bench-corpus
QUERIES ?= small
PEERS ?= all
BENCHFLAGS ?=
# How long "make soak" and "make load" take.
SOAK ?= 10m
# In which part of the time soak asks for something.
SOAKSHARE ?= 1

# trawl is released static, so that is what is checked. Only the race detector
# needs C.
export CGO_ENABLED = 0

# The race detector needs a C compiler and a processor it knows. Building its
# runtime is the one test that cannot be wrong; it takes a few seconds once.
RACE = $(shell CGO_ENABLED=1 $(GO) build -race -o /dev/null runtime/cgo 2>/dev/null && echo -race)

.PHONY: help build test check lint fmt vet staticcheck tidy arrows oracle fuzz fuzz-long bench soak load clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build trawl and trawl-bench, static, into this folder
	$(GO) build -trimpath ./cmd/trawl
	$(GO) build -trimpath ./cmd/trawl-bench

# Races show in a few hundred random cases; wrong answers are for "make oracle".
test: ## run all tests, with the race detector if there is a C compiler
	@race='$(RACE)'; \
	test -n "$$race" || echo 'make test: no race detector here (it needs a C compiler); testing without' >&2; \
	test -z "$$race" || export CGO_ENABLED=1 TRAWL_CASES="$${TRAWL_CASES:-100}"; \
	$(GO) test $$race -timeout 15m $(TESTFLAGS) ./...

check: lint test oracle fuzz ## everything CI checks

lint: fmt vet staticcheck tidy arrows ## everything CI checks without running trawl

fmt: ## fail if gofmt would change a file
	@files=$$(gofmt -l .) && test -z "$$files" || { echo "gofmt would change:" >&2; echo "$$files" >&2; exit 1; }

vet: ## run go vet
	$(GO) vet ./...

staticcheck: ## run the staticcheck that go.mod pins
	$(GO) tool staticcheck ./...

tidy: ## fail if go mod tidy would change go.mod or go.sum
	$(GO) mod tidy -diff

arrows: ## check imports, comments and files (lint_test.go)
	$(GO) test -count=1 .

oracle: ## compare the search and the matchers with Go's regexp on CASES random cases
	TRAWL_CASES=$(CASES) $(GO) test -count=1 -timeout 120m \
		-run '^(TestOracle|TestRevisionsOracle|TestLimitsCutTheWholeAnswer|TestFlippedBits|TestMetamorphic|TestFacetsAreFollowed|TestFind.*|TestMaxSpans|TestBruteWithinBudget|TestAgainstRegexp|TestWindows)$$' ./query/search ./query/match ./query/match/dfa

fuzz: ## run every fuzz target for FUZZTIME
	GO='$(GO)' INSTRUMENT=own bash .ci/fuzz $(FUZZTIME)

fuzz-long: ## run every fuzz target, or those that match TARGETS, for FUZZLONG
	GO='$(GO)' bash .ci/fuzz $(FUZZLONG) '$(TARGETS)'

bench: build ## measure trawl on CORPUS (generated if there is none) beside the peers on PATH (BENCHFLAGS=--full for more)
	test -e '$(CORPUS)' || ./trawl-bench corpus --out '$(CORPUS)'
	./trawl-bench run --trawl ./trawl --corpus '$(CORPUS)' --queries '$(QUERIES)' --peers '$(PEERS)' $(BENCHFLAGS)

soak: build ## change, search, back up and restart trawl for SOAK, and see whether anything grows
	./trawl-bench soak --trawl ./trawl --for '$(SOAK)' --share '$(SOAKSHARE)'

load: build ## search DATA, a copy of a data directory, beside 500 slow streams for SOAK
	./trawl-bench load --trawl ./trawl --data '$(DATA)' --for '$(SOAK)'

clean: ## remove what build made
	rm -f trawl trawl-bench
