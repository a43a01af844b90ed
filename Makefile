# The front door: each target installs what it needs, configures and builds on its own.
# Everything real is in CMakeLists.txt; what takes longer than `make test` allows is in soak and repro.
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
FUZZ_SECONDS ?= 60

SANITIZED := $(BUILD)-sanitize
FUZZING   := $(BUILD)-fuzz
PYTHON    := /usr/bin/python3
CONFIGURE := cmake -S . -G Ninja --log-level=WARNING
CTEST     := ctest --output-on-failure --no-tests=error -j $(JOBS)
# OpenMP threads that spin while waiting would steal the cores that parallel tests share.
export OMP_WAIT_POLICY ?= passive
export PYTHONDONTWRITEBYTECODE = 1

.PHONY: all run test unit sanitize lint format bench fuzz soak repro install symbols clean

all:
	@tools/setup.sh build
	@$(CONFIGURE) -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build $(BUILD) -j $(JOBS) --target product

run: all
	@tools/tour.sh $(BUILD)/melicit

test: unit sanitize lint
	@echo "make test: everything passed"

unit:
	@tools/setup.sh test
	@$(CONFIGURE) -B $(BUILD) -DMEL_TESTS=ON
	@cmake --build $(BUILD) -j $(JOBS)
	@$(CTEST) --test-dir $(BUILD)

sanitize:
	@tools/setup.sh test
	@$(CONFIGURE) -B $(SANITIZED) -DMEL_TESTS=ON -DMEL_SANITIZE=ON
	@cmake --build $(SANITIZED) -j $(JOBS)
	@$(CTEST) --test-dir $(SANITIZED)

lint:
	@tools/setup.sh test
	@$(CONFIGURE) -B $(BUILD) -DMEL_TESTS=ON
	@cmake --build $(BUILD) -j $(JOBS) --target product
	@$(PYTHON) tools/lint.py --build $(BUILD) --jobs $(JOBS)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

bench:
	@tools/setup.sh bench
	@$(CONFIGURE) -B $(BUILD)
	@cmake --build $(BUILD) -j $(JOBS) --target product bench_programs
	@MELICIT_BUILD=$(BUILD) tools/bench.sh

fuzz:
	@tools/setup.sh fuzz
	@$(CONFIGURE) -B $(FUZZING) -DCMAKE_C_COMPILER=clang -DMEL_FUZZ=ON
	@cmake --build $(FUZZING) -j $(JOBS)
	@tools/fuzz.sh $(FUZZING) $(FUZZ_SECONDS)

soak: unit
	@$(MAKE) fuzz FUZZ_SECONDS=300
	@MELICIT_SOAK=1 $(CTEST) --test-dir $(BUILD)

repro: all
	@tools/setup.sh repro
	@MELICIT_BUILD=$(BUILD) repro/run.sh

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

# Rewrites the committed list of exported symbols from the headers' MEL_API and the built library.
symbols: all
	@$(PYTHON) tools/lint.py --build $(BUILD) --write-symbols

clean:
	rm -rf $(BUILD) $(SANITIZED) $(FUZZING)
