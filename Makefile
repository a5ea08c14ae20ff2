# make run    install what app.json lists into .venv and start the server
# make test   install what the tests need, and run the tests of the core and of the plugins
# make test-more   the tests that are heavy and seldom break, and a part of those below: at most 15 minutes
# make test-isolated   the tests of plugins with their modules in a process of their own
# make test-fast   the tests that start no browser and no other process: under a minute, while you write
# make check  lint, types, import contract, the official suite of MCP, wheels, and the tests of surfaces against the
#             installed wheels
# make bench  measure
# make extension   the browser extension, in build/extension; ARGS=--zip writes the file for stores too
# make screenshots   take the pictures of docs/images; needs Chromium
#
# Needs python3 (3.11 or later) with venv, and make; everything else is installed into .venv. Nothing is installed
# again unless a pyproject.toml, app.json or constraints.txt has changed.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
# one more than there are cores: a test waits for a browser, a disk or a process for part of its time
WORKERS ?= $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN))

BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# the many servers and commands that tests start read compiled code, also where the environment says not to write it
unexport PYTHONDONTWRITEBYTECODE
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
PIP_INSTALL := $(BIN)/python -m pip install --quiet

PLUGINS := $(shell $(PYTHON) .ci/plugin_folders.py)
LISTED := $(shell $(PYTHON) .ci/plugin_folders.py app.json)
PROJECTS := pyproject.toml $(PLUGINS:%=%/pyproject.toml)
CODE := agentcore $(wildcard $(PLUGINS:%=%/src))

INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
WHEEL_VENV := build/venv
WHEEL_TESTS := build/tests
# the tests of what is installed: commands, servers, the page's files and views, documents, every module in the host
SURFACES := $(addprefix tests/,test_contracts.py test_documents.py testing cli \
	server/test_serve.py server/page/test_document.py chat/test_whole_way.py \
	$(foreach name,shell/test_app test_first_load module_pages/test_module_pages test_documented_page,webui/$(name).py)) $(PLUGINS)
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
INSTALLED_WHEELS := $(WHEEL_VENV)/.installed

.PHONY: screenshots extension run test test-more test-isolated test-fast check lint types page-types imports conformance wheels test-wheels bench constraints clean
.DELETE_ON_ERROR:

run: $(INSTALLED)
	$(BIN)/agentcore serve $(ARGS)

# Run tests: the interpreter, which of them. What failed is run once more, by itself: among some thousand tests with real
# browsers on a machine that others use too, one may meet a moment that no other run has. What passes then is named in the
# last lines, and is a defect of the test or of the product all the same. A run that broke off (status 2 and above) is not
# repeated. worksteal: neighbours share a worker, and so the browser or the server of their file.
define tests
	$(1) -m pytest -q -n $(WORKERS) --dist worksteal $(2) || { [ $$? = 1 ] && echo "--- once more, what failed:" && \
	$(1) -m pytest -q -rfEp --no-header --show-capture=no --last-failed --last-failed-no-failures none --maxfail 5 $(2) && \
	echo "--- failed among the others, passed by itself: see above"; }
endef

test: $(INSTALLED_DEV)
	$(call tests,$(BIN)/python,-m 'not more' $(ARGS))

test-more: $(INSTALLED_DEV)
	$(call tests,$(BIN)/python,-m more --ignore tests/conformance $(ARGS))
	export AGENTCORE_TEST_ISOLATION=process && $(call tests,$(BIN)/python,-m 'not more' $(ISOLATED_PART) $(ARGS))

test-isolated: $(INSTALLED_DEV)
	export AGENTCORE_TEST_ISOLATION=process && $(call tests,$(BIN)/python,-m 'not more' $(ISOLATED) $(ARGS))

test-fast: $(INSTALLED_DEV)
	$(call tests,$(BIN)/python,-m fast $(ARGS))

check: lint types page-types imports conformance test-wheels

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED_DEV)
	$(BIN)/mypy $(CODE)
	$(BIN)/mypy --explicit-package-bases benchmarks

# The page has no build step; its types are in comments, and TypeScript only reads them.
page-types:
	@if command -v npm >/dev/null; then npm ci --silent --no-audit --no-fund && npm run --silent types; \
	else echo "no npm here: the types of the page's scripts are not checked" >&2; fi

imports: $(INSTALLED_DEV)
	$(BIN)/lint-imports

# The official suite of MCP: all that a revision asks of servers and of clients, in some 15 s. Needs what `npm ci` installs;
# without it, the last line says so.
conformance: $(INSTALLED_DEV) page-types
	$(BIN)/python -m pytest -q -rs -n $(WORKERS) tests/conformance

bench: $(INSTALLED_DEV)
	$(BIN)/python -m benchmarks $(ARGS)

# needs nothing but Python
extension:
	$(PYTHON) -m scripts.extension $(ARGS)

screenshots: $(INSTALLED_DEV)
	$(BIN)/python scripts/screenshots $(ARGS)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# with the family of MCP servers, which no name in app.json stands for
$(INSTALLED): $(PROJECTS) app.json constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[chat,mcp]' $(patsubst %,-e ./%,$(sort $(LISTED) plugins/mcp_servers))
	@touch $@

$(INSTALLED_DEV): $(PROJECTS) constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[testing,dev]' $(PLUGINS:%=-e ./%)
	@touch $@

wheels: $(INSTALLED_DEV)
	rm -rf build/wheels
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheels . $(PLUGINS:%=./%)

$(WHEEL_VENV)/bin/python:
	$(PYTHON) -m venv $(WHEEL_VENV)

$(INSTALLED_WHEELS): $(PROJECTS) constraints.txt | $(WHEEL_VENV)/bin/python wheels
	$(WHEEL_VENV)/bin/python -m pip install --quiet "$$(echo build/wheels/agentcore_runtime-*.whl)[testing,dev]" build/wheels/*.whl
	@touch $@

# What a wheel can lack is a file, an entry point or a dependency. Each file of the packages and of the page is looked for
# in the wheels, and what is installed from them alone is used through its surfaces, without the source tree. The other
# tests look inside the same code again, find nothing of that kind, and run once: with `make test`.
test-wheels: wheels $(INSTALLED_WHEELS)
	$(PYTHON) .ci/wheel_files.py build/wheels
	$(WHEEL_VENV)/bin/python -m pip install --quiet --no-deps --force-reinstall build/wheels/*.whl
	rm -rf $(WHEEL_TESTS)
	mkdir -p $(WHEEL_TESTS)
	tar -c --exclude __pycache__ conftest.py pyproject.toml app.json *.md docs examples tests $(wildcard $(PLUGINS:%=%/tests) $(PLUGINS:%=%/*.md)) | tar -x -C $(WHEEL_TESTS)
	cd $(WHEEL_TESTS) && export AGENTCORE_TEST_INTERPRETERS=fresh && $(call tests,$(CURDIR)/$(WHEEL_VENV)/bin/python,-m 'not source_tree and not more' $(SURFACES) $(ARGS))

# The versions that a fresh installation of everything takes, without our own distributions.
constraints:
	rm -rf build/venv-constraints
	$(PYTHON) -m venv build/venv-constraints
	PIP_CONSTRAINT= build/venv-constraints/bin/python -m pip install --quiet '.[testing,dev]' $(PLUGINS:%=./%)
	build/venv-constraints/bin/python -m pip freeze | grep -v -i '^agentcore-\|^-e\|^#\| @ ' | LC_ALL=C sort -f > constraints.txt

clean:
	rm -rf build dist $(VENV)
