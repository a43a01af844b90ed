# The front door: each target installs what it needs, configures and builds on its own.
# Everything real is in CMakeLists.txt; what takes longer than `make test` allows is in soak and repro.
# A comment after `##` is what `make help` says of a target.
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
VERSION := $(shell awk '/^project/ {print $$3}' CMakeLists.txt)
FUZZ_SECONDS ?= 60
SERVER_SECONDS ?= 3600
SEED ?= 0

FUZZING   := $(BUILD)-fuzz
PYTHON    := /usr/bin/python3
CONFIGURE := cmake -S . -G Ninja --log-level=WARNING
# What stands alone has no use for libraries that the program loads while it runs (libpq) or that the system must match (MPI).
BUNDLE := melicit-$(VERSION)-linux-$(shell uname -m)
ALONE  := $(CONFIGURE) -B $(BUILD)/alone -DMEL_POSTGRES=OFF -DMEL_MPI=OFF -DCMAKE_INSTALL_LIBDIR=lib
TEST      := $(PYTHON) tools/test.py --build $(BUILD) --jobs $(JOBS)
# OpenMP threads that spin while waiting would steal the cores that parallel tests share.
export OMP_WAIT_POLICY ?= passive
export PYTHONDONTWRITEBYTECODE = 1

.PHONY: all help run test unit sanitize lint format web bench fuzz site soak repro repro-docs wheel bundle install uninstall dist deb symbols clean

all: ## build/melicit, build/libmelicit.so, build/libmelicit.a (plain `make`)
	@tools/setup.sh build
	@$(CONFIGURE) -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build $(BUILD) -j $(JOBS) --target product

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 12

run: all ## the main job on the bundled data
	@tools/tour.sh $(BUILD)/melicit

test: ## unit, lint and sanitize, ten minutes on two cores
	@tools/setup.sh test
	@$(TEST) checks sanitize

unit: ## the C tests, the corpus of the fuzzers, the system tests, the web pages in a browser
	@tools/setup.sh test
	@$(TEST) unit

sanitize: ## the same tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/setup.sh test
	@$(TEST) sanitize

lint: ## clang-format, clang-tidy, banned functions, rooms, headers alone, links, long sentences, exported symbols
	@tools/setup.sh test
	@MELICIT_ANALYZER=1 $(TEST) lint

format: ## clang-format on every file
	@git ls-files '*.c' '*.h' | xargs clang-format -i

web: ## builds web/dist anew after a change of web/src or studies/
	@tools/setup.sh web
	@cd web && node build.mjs

bench: ## speed and memory next to peers, as ratios measured in one run
	@tools/setup.sh bench
	@$(CONFIGURE) -B $(BUILD)
	@cmake --build $(BUILD) -j $(JOBS) --target product bench_programs python
	@MELICIT_BUILD=$(BUILD) tools/bench.py

fuzz: ## every fuzz target, one minute each (FUZZ_SECONDS=300 for five)
	@tools/setup.sh fuzz
	@$(CONFIGURE) -B $(FUZZING) -DCMAKE_C_COMPILER=clang -DMEL_FUZZ=ON
	@cmake --build $(FUZZING) -j $(JOBS)
	@tools/fuzz.sh $(FUZZING) $(FUZZ_SECONDS)

soak: ## hours: make test in a clean clone and on a bare Debian 12 and 13, every artefact of a release, every test in full, long fuzzing
	@tools/clean_clone.sh
	@tools/bare_debian.sh bookworm
	@tools/bare_debian.sh trixie
	@tools/setup.sh release
	@tools/release.sh
	@tools/setup.sh test
	@MELICIT_SOAK=1 $(TEST) unit sanitize threads
	@MELICIT_BUILD=$(BUILD)-sanitize $(PYTHON) tests/fuzz/server.py --seconds $(SERVER_SECONDS)
	@$(MAKE) fuzz FUZZ_SECONDS=300

repro: all ## the thesis' tables and figures again: build/repro/reproduction.md; QUICK=1 a minute, SEED=1 other random numbers
	@tools/setup.sh repro
	@cmake --build $(BUILD) -j $(JOBS) --target python
	@MELICIT_BUILD=$(BUILD) $(PYTHON) repro/run.py --seed $(SEED) $(if $(QUICK),--quick)

repro-docs: ## copies a complete run of make repro to docs/
	@MELICIT_BUILD=$(BUILD) $(PYTHON) repro/run.py --to-docs

wheel: ## the Python package with every library in it: build/wheel/melicit-*.whl
	@tools/setup.sh python
	@$(ALONE)
	@cmake --build $(BUILD)/alone -j $(JOBS) --target python
	@rm -rf $(BUILD)/wheel
	@$(PYTHON) tools/carry.py wheel $(BUILD)/alone/python/*.whl $(BUILD)/wheel

bundle: ## a folder with program and libraries that runs on other Linux systems: build/melicit-VERSION-linux-*.tar.gz
	@tools/setup.sh python
	@$(ALONE)
	@cmake --build $(BUILD)/alone -j $(JOBS) --target product
	@rm -rf $(BUILD)/$(BUNDLE)
	@cmake --install $(BUILD)/alone --prefix $(BUILD)/$(BUNDLE) > $(BUILD)/bundle.log
	@rm -rf $(BUILD)/$(BUNDLE)/lib/python3*
	@cp LICENSE README.md $(BUILD)/$(BUNDLE)
	@echo "needs glibc `$(PYTHON) tools/carry.py bundle $(BUILD)/$(BUNDLE)` or newer" | tee $(BUILD)/$(BUNDLE)/NEEDS
	@tar -czf $(BUILD)/$(BUNDLE).tar.gz -C $(BUILD) $(BUNDLE)
	@ls $(BUILD)/$(BUNDLE).tar.gz

site: all ## the documentation as web pages: build/site/index.html
	@tools/setup.sh site
	@$(PYTHON) tools/site.py $(BUILD)/site $(BUILD)/melicit

install: all ## program, libraries, headers, data, manual page, completion, Python package below PREFIX=/usr/local
	@tools/setup.sh python
	@cmake --build $(BUILD) -j $(JOBS) --target python
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@[ ! -w /etc/ld.so.cache ] || /sbin/ldconfig # programs find the library at once

uninstall: ## removes what make install put below PREFIX; stores of a server stay
	@xargs -d '\n' rm -fv < $(BUILD)/install_manifest.txt
	@[ ! -w /etc/ld.so.cache ] || /sbin/ldconfig

dist: ## the sources as an archive that builds without git: build/melicit-VERSION.tar.gz
	@mkdir -p $(BUILD)
	@if [ -e .git ]; then git archive --format=tar.gz --prefix=melicit-$(VERSION)/ -o $(BUILD)/melicit-$(VERSION).tar.gz HEAD; \
	else tar -czf $(BUILD)/melicit-$(VERSION).tar.gz --exclude='./build*' --exclude=./web/node_modules --transform 's:^\.:melicit-$(VERSION):' .; fi
	@ls $(BUILD)/melicit-$(VERSION).tar.gz

deb: dist ## Debian packages of the last commit, for the release that they are built on: build/deb/*.deb
	@tools/setup.sh deb
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	@tar -xzf $(BUILD)/melicit-$(VERSION).tar.gz -C $(BUILD)/deb
	@cd $(BUILD)/deb/melicit-$(VERSION) && DEB_BUILD_OPTIONS="$(DEB_BUILD_OPTIONS) parallel=$(JOBS)" dpkg-buildpackage -b -us -uc > ../build.log 2>&1 || \
		{ grep -vE "^\[[0-9]+/" ../build.log | tail -n 40; exit 1; }
	@cd $(BUILD)/deb && rm -rf melicit-$(VERSION) && lintian --fail-on error *.changes
	@ls $(BUILD)/deb/*.deb

symbols: all ## rewrites tools/symbols.txt after a public function was added
	@$(PYTHON) tools/lint.py --build $(BUILD) --write-symbols

clean: ## removes what was built
	rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-threads $(FUZZING)
