# The front door: thin verbs over meson, ninja, npm and tools/. `make help` lists them.

SEEDS = 1000
FUZZ_SECONDS = 60
CHAOS_SECONDS = 60
PREFIX = /usr/local

all: build

build: setup ## build everything for use, the console too (build/release)
	@tools/console
	@$(MAKE) --no-print-directory build-release

run: build ## start a server with a worker and open its door: prints the sign-in link
	@exec build/release/src/server/ax-server --dev

check: setup-test build-gcc ## the fast tests: unit and arch
	@tools/test unit arch

test: setup-test ## every test and check; the last line is "N passed, N failed"
	@tools/test

asan: setup-test ## unit, contract and api tests under ASan and UBSan
	@tools/test asan

tsan: setup-test ## what has threads, under TSan
	@tools/test tsan

sim: setup-test build-gcc ## simulate SEEDS histories (SEEDS=1000)
	@build/gcc/sim/axsim --seeds $(SEEDS)

mutants: setup-test ## take one guard away at a time: the simulator must notice
	@tools/mutants

fuzz: setup-test build-fuzz ## fuzz every target for FUZZ_SECONDS (60) each
	@tools/fuzz $(FUZZ_SECONDS)

cluster: setup-test build-gcc ## three servers, three workers, MariaDB and Redis under a load (RATE=50), to look at and to break
	@AX_BUILD=build/gcc tools/cluster $(if $(RATE),--rate $(RATE))

chaos: setup-test build-gcc ## hurt such a cluster in every way: CHAOS_SECONDS=60 a cell, CELLS= some, SEED= again; writes docs/reliability-report.md
	@AX_BUILD=build/gcc tests/chaos/ax_chaos --seconds $(CHAOS_SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(RATE),--rate $(RATE)) \
		$(or $(CELLS),--docs)

soak: setup-test ## the long versions; logs in build/test-logs
	@tools/test --soak

bench: setup-test ## benchmarks: a table and JSON in bench/results; NAMES= some, DOCS=1 writes docs/benchmarks.md, AGAINST=REV compares, PEERS=1 beside other schedulers
	@$(if $(PEERS),bench/peers/ax_peers,bench/ax_bench) $(if $(DOCS),--docs) $(if $(AGAINST),--compare $(AGAINST)) $(NAMES)

fmt: ## lay out all C as .clang-format says
	@find src lib sim tests fuzz bench -name "*.[ch]" | xargs clang-format -i

lint: setup-test build-clang ## clang-format, clang-tidy, shellcheck
	@tools/test format tidy shell

docs: build-gcc ## write the generated parts of docs/ anew
	@tools/docs --write

install: build ## install below PREFIX (/usr/local); DESTDIR is honoured
	@meson configure build/release -Dprefix=$(PREFIX)
	@ninja -C build/release
	@meson install -C build/release --no-rebuild

clean: ## remove what was built
	@rm -rf build console/dist

help: ## this list
	@sed -n 's/^\([a-z]*\):.* ## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

# One build folder per kind of build; meson reconfigures them by itself when a meson.build changes.
OPTIONS_release = -Dtests=false -Dconsole=enabled
OPTIONS_gcc = -Dconsole=enabled -Dcrash_points=true
OPTIONS_clang = -Dconsole=disabled
OPTIONS_asan = -Dconsole=disabled -Dcrash_points=true -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized
OPTIONS_tsan = -Dconsole=disabled -Db_sanitize=thread -Db_lundef=false -Dbuildtype=debugoptimized
OPTIONS_fuzz = -Dconsole=disabled -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized -Dfuzz=true
CC_release = gcc
CC_gcc = gcc

build-%: build/%/build.ninja
	@ninja -C build/$*

build/%/build.ninja:
	@mkdir -p build; CC=$(or $(CC_$*),clang) meson setup build/$* $(OPTIONS_$*) >build/setup-$*.log 2>&1 || \
		{ cat build/setup-$*.log; rm -rf build/$*; exit 1; }

# What is built with the console's pages needs them there.
build/gcc/build.ninja build/release/build.ninja: | console/dist/index.html

console/dist/index.html:
	@tools/console

setup:
	@tools/setup run

setup-test:
	@tools/setup test

.PHONY: all build run check test asan tsan sim mutants fuzz cluster chaos soak bench fmt lint docs install clean help setup setup-test
.PRECIOUS: build/%/build.ninja
