# Everything that people and CI do with this repository; `make` lists it.

export CGO_ENABLED = 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
PREFIX  ?= /usr/local

# Of packages: 1.2.3 for the tag v1.2.3, 1.2.3+4.gabcdef for the fourth commit after it; 0~git… before the first tag, which sorts below all.
# It is asked for once.
PACKAGE_VERSION ?= $(eval PACKAGE_VERSION := $$(shell git describe --tags --match 'v[0-9]*' 2>/dev/null | sed 's/^v//; s/-rc/~rc/; s/-/+/; s/-/./g' | \
	grep . || echo "0~git$$$$(git rev-list --count HEAD).g$$$$(git rev-parse --short=8 HEAD)"))$(PACKAGE_VERSION)
ARCHES ?= amd64 arm64
DIST   ?= dist
STAGE   = $(DIST)/stage

FUZZTIME  ?= 30s
BENCHTIME ?= 5s

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
# Not above 2.45: from 2.46 on nfpm needs modules that not every proxy serves.
NFPM        = github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
MD2MAN      = github.com/cpuguy83/go-md2man/v2@v2.0.7
CYCLONEDX   = github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

.PHONY: help build run test test-race check-strict escape soak vm fuzz test262 bench lint vuln install uninstall stage deb rpm dist check-packages clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9 -]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the four binaries, and the example MCP server, into bin/
	@mkdir -p bin
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/... ./examples/tracker

run: build ## a model-style program calls MCP tools from inside a jailed worker
	bin/sandboxctl run --mcp examples/mcp.json examples/programs/top3.js

test: ## all tests; ends with what was skipped, and why
	go run ./tests/run

test-race: ## all tests under the race detector (takes a C compiler)
	CGO_ENABLED=1 go run ./tests/run -race

check-strict: ## all tests; one that is skipped fails
	SANDBOXD_STRICT=1 go run ./tests/run

escape: ## attack the jail, and show which layer stops what
	go test -c -o bin/escape.test ./tests/escape
	cd tests/escape && ../../bin/escape.test -summary

soak: ## 10,000 runs in a row, one in ten hostile, and nothing left of them
	SANDBOXD_SOAK=10000 go test -count 1 -timeout 60m -v ./tests/soak

vm: ## the units, cgroups and kernels of Debian 12 and 13, and arm64, in emulated machines; wants QEMU and mmdebstrap
	SANDBOXD_VM=1 go test -count 1 -timeout 60m -v ./tests/vm

fuzz: ## each fuzz target for FUZZTIME (30s)
	go run ./tests/run -fuzz $(FUZZTIME)

test262: ## a checkout of tc39/test262, DIR=…, against the known failures; ONLY=pattern; UPDATE=1 writes counts and failures
	go build -tags sandboxd_test262 -o bin/test262 ./tests/test262
	bin/test262 -dir '$(DIR)' -only '$(ONLY)' $(if $(UPDATE),-update -docs docs/javascript.md)

bench: ## the figures of docs/benchmarks.md; wants an idle machine; UPDATE=1 writes the table on code mode
	go test ./tests/bench ./tests/bench/gateways -p 1 -run '^$$' -bench . -benchtime $(BENCHTIME)
	go test ./tests/bench/codemode -run '^$$' -bench . -benchtime 3x $(if $(UPDATE),-update)

lint: ## go vet, gofmt and staticcheck
	go vet ./...
	go vet -tags sandboxd_layers ./internal/jail ./tests/escape/...
	go vet -tags sandboxd_test262 ./internal/js ./tests/test262
	@test -z "$$(gofmt -l .)" || { echo "gofmt wants: $$(gofmt -l .)"; exit 1; }
	go run $(STATICCHECK) ./...
	go run $(STATICCHECK) -tags sandboxd_test262 ./internal/js ./tests/test262

vuln: ## govulncheck; takes its database from the network
	go run $(GOVULNCHECK) ./...

# Of the commit: what is built twice of one is the same, byte for byte.
stage deb rpm dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)

stage: # what packages have, but for the units and what else lies ready in the repository
	@rm -rf $(STAGE) && mkdir -p $(STAGE)/host $(addprefix $(STAGE)/,$(ARCHES))
	for arch in $(ARCHES); do GOARCH=$$arch go build -trimpath -buildvcs=auto -ldflags '-s -w -buildid= -X main.version=$(PACKAGE_VERSION)' \
		-o $(STAGE)/$$arch/ ./cmd/... || exit 1; done
	go build -trimpath -buildvcs=auto -ldflags '-X main.version=$(PACKAGE_VERSION)' -o $(STAGE)/host/ ./cmd/sandboxctl ./cmd/sandboxd
	go run ./packaging/stage -out $(STAGE) -bin $(STAGE)/host -version '$(PACKAGE_VERSION)' -date $(SOURCE_DATE_EPOCH)
	for page in $(STAGE)/*.md; do go run $(MD2MAN) -in $$page -out $${page%.md} || exit 1; done
	cp CHANGELOG.md $(STAGE)/changelog
	gzip -9n $(STAGE)/*.[158] $(STAGE)/changelog $(STAGE)/changelog.Debian $(STAGE)/THIRD-PARTY

deb rpm: stage ## a package for each architecture (ARCHES), into DIST (dist/)
	for arch in $(ARCHES); do \
		VERSION='$(PACKAGE_VERSION)' ARCH=$$arch STAGE=$(STAGE) go run $(NFPM) package -f packaging/nfpm.yaml -p $@ -t $(DIST)/ || exit 1; done

dist: deb rpm ## all packages, what is in each binary as CycloneDX, and checksums, into DIST (dist/)
	for arch in $(ARCHES); do for binary in $(STAGE)/$$arch/*; do \
		go run $(CYCLONEDX) bin -json -std -noserial -notimestamp -version '$(PACKAGE_VERSION)' \
			-output $(DIST)/$${binary##*/}-$(PACKAGE_VERSION).$$arch.cdx.json $$binary || exit 1; done; done
	cd $(DIST) && sha256sum *[_-]$(PACKAGE_VERSION)[-.]*.* >SHA256SUMS

check-packages: ## build the packages twice, compare, and look into them; wants dpkg, rpm, lintian, rpmlint and man-db
	SANDBOXD_PACKAGES=1 go test -count 1 -timeout 30m -v ./tests/packaging

install: build ## into PREFIX (/usr/local), below DESTDIR
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/sandboxd
	install bin/sandboxctl $(DESTDIR)$(PREFIX)/bin/
	install bin/sandboxd bin/sandbox-nursery bin/sandbox-worker $(DESTDIR)$(PREFIX)/lib/sandboxd/

uninstall: ## what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/sandboxctl
	rm -rf $(DESTDIR)$(PREFIX)/lib/sandboxd

clean: ## what build and the tests made
	rm -rf bin dist tests/npm/node_modules
