# Everything that people and CI do with this repository. `make help` lists it.

export CGO_ENABLED = 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
PREFIX  ?= /usr/local

BINARIES = sandboxd sandbox-nursery sandbox-worker sandboxctl

.PHONY: help build run test test-race check-strict fuzz bench vet install uninstall clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the four binaries, and the example MCP server, into bin/
	@mkdir -p bin
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/... ./examples/tracker

run: build ## a model-style program calls MCP tools from inside a jailed worker
	bin/sandboxctl run --mcp examples/mcp.json examples/programs/top3.js
