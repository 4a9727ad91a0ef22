# navd: `make help` lists what can be made.
CC ?= cc
CXX ?= c++
PYTHON ?= python3
BUILD ?= build
SAN ?=
OPT ?= -O2 -g
ARGS ?=
QUIETLY = $(MAKE) -s -j$(shell nproc)

# Debian 12 packages: what the build needs, and what only tests, benchmarks and load tests need.
PACKAGES_RUN := build-essential libmicrohttpd-dev libuv1-dev libcjson-dev zlib1g-dev libxxhash-dev
PACKAGES_TEST := python3 libcmocka-dev librecast-dev wrk curl chromium

ifneq ($(SAN),)
  BUILD := build/san-$(SAN)
  ifeq ($(SAN),address)
    SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
  else
    SANFLAGS := -fsanitize=$(SAN) -fno-omit-frame-pointer
  endif
  OPT := -O1 -g
endif

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
# No contraction: exact predicates count on each product being rounded by itself.
CFLAGS_ALL = -std=c17 $(WARN) $(OPT) $(SANFLAGS) -ffp-contract=off -fno-math-errno -fstack-protector-strong -D_GNU_SOURCE $(CFLAGS)
CXXFLAGS_ALL = -std=c++17 -Wall -Wextra $(OPT) $(SANFLAGS) -ffp-contract=off $(CXXFLAGS)
LDFLAGS_ALL = $(SANFLAGS) $(LDFLAGS)
DEP = -MMD -MP

# Each folder sees only what it may: server -> api -> navcore.
NAVCORE_INC := -Inavcore
API_INC := -Iapi -Inavcore
SERVER_INC := -Iserver -Iapi -Inavcore
TEST_INC := -Itests/support -Iserver -Iapi -Inavcore

objects = $(patsubst %,$(BUILD)/%.o,$(basename $(wildcard $(1))))
NAVCORE_OBJ := $(call objects,navcore/*.c)
API_OBJ := $(call objects,api/*.c api/*.cpp)
SERVER_OBJ := $(filter-out $(BUILD)/server/main.o,$(call objects,server/*.c))
SUPPORT_OBJ := $(call objects,tests/support/*.c)
LIBS := $(addprefix $(BUILD)/,libsupport.a libapi.a libnavcore.a)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
API_LIBS := -lcjson
SERVER_LIBS := -lmicrohttpd -luv -lz
FORMATTED := $(wildcard $(foreach d,navcore api server tests/*,$(d)/*.c $(d)/*.h $(d)/*.cpp))

.DEFAULT_GOAL := all
.PRECIOUS: $(BUILD)/%.o
.PHONY: all run test unit unit-programs http web conformance bench load load-agents san format lint help clean deps deps-run deps-node

## build build/navd (SAN=address|thread: build/san-.../navd)
all: $(BUILD)/navd

include web/web.mk
-include api/api.mk
-include tests/generate/generate.mk
-include tests/bench/bench.mk
-include tests/fuzz/fuzz.mk

$(BUILD)/navd: $(BUILD)/server/main.o $(BUILD)/libserver.a $(BUILD)/libapi.a $(BUILD)/libnavcore.a
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(SERVER_LIBS) $(API_LIBS) -lpthread -lm

$(BUILD)/libnavcore.a: $(NAVCORE_OBJ)
$(BUILD)/libapi.a: $(API_OBJ)
$(BUILD)/libserver.a: $(SERVER_OBJ)
$(BUILD)/libsupport.a: $(SUPPORT_OBJ)
$(BUILD)/lib%.a:
	@rm -f $@; ar rcs $@ $^

$(BUILD)/navcore/%.o: navcore/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(NAVCORE_INC) $(DEP) -c -o $@ $<
$(BUILD)/api/%.o: api/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(API_INC) $(DEP) -c -o $@ $<
$(BUILD)/api/%.o: api/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS_ALL) $(API_INC) $(DEP) -c -o $@ $<
$(BUILD)/server/%.o: server/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(SERVER_INC) $(DEP) -c -o $@ $<
$(BUILD)/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(TEST_INC) $(DEP) -c -o $@ $<

# One program for each tests/unit/test_<module>.c; those of the server link it as well.
$(BUILD)/unit/test_server_%: $(BUILD)/tests/unit/test_server_%.o $(BUILD)/libserver.a $(LIBS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ -lcmocka $(SERVER_LIBS) $(API_LIBS) -lpthread -lm
$(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(LIBS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ -lcmocka $(API_LIBS) -lpthread -lm
# A test of navcore alone while the api does not build: make build/core/test_x
$(BUILD)/core/%: $(BUILD)/tests/unit/%.o $(BUILD)/libsupport.a $(BUILD)/libnavcore.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcmocka -lm
unit-programs: $(UNIT_BIN)

$(BUILD)/load/yardstick: $(BUILD)/tests/load/yardstick.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

## build and serve samples/ on 127.0.0.1:8080 (ARGS="--listen ...")
run: deps-run
	@$(QUIETLY) $(BUILD)/navd
	@$(BUILD)/navd --meshes samples $(ARGS)

## every suite, sanitizers included; the last line sums them up
test: deps
	@$(PYTHON) tests/run_all

## unit tests (SAN=address|thread: under that sanitizer)
unit: unit-programs
	@$(PYTHON) tests/run_all --only unit --build $(BUILD)

## the viewer in headless Chromium (ARGS="drag" picks tests)
web: deps $(BUILD)/navd
	@cd web && node_modules/.bin/tsc --noEmit
	@node tests/web/viewer.mjs --binary $(BUILD)/navd $(ARGS)

## HTTP tests against build/navd (ARGS="reload" picks modules)
http: $(BUILD)/navd
	@$(PYTHON) tests/http/run --binary $(BUILD)/navd $(ARGS)

## ../shared/conformance/check.py against build/navd, where it is present
conformance: $(BUILD)/navd
	@$(PYTHON) tests/conformance/run --binary $(BUILD)/navd $(ARGS)

## times beside Detour's on the same meshes; build/bench.json
bench: deps

## rates, latency and CPU per request measured with wrk; build/load.json
load: deps
	@$(QUIETLY) $(BUILD)/navd $(BUILD)/load/yardstick
	@$(PYTHON) tests/load/run --binary $(BUILD)/navd $(ARGS)

## 10,000 agents stepped and told 20 times a second; build/load-agents.json
load-agents: $(BUILD)/navd
	@$(PYTHON) tests/load/agents --binary $(BUILD)/navd $(ARGS)

## unit and HTTP tests under SAN=address or SAN=thread
san: deps
	@test -n "$(SAN)" || { echo "say which: make san SAN=address or SAN=thread" >&2; exit 2; }
	@$(QUIETLY) SAN=$(SAN) build/san-$(SAN)/navd unit
	@$(PYTHON) tests/http/run --binary $(BUILD)/navd $(ARGS)

## edits under load for a minute, a million edits, 200 crashes among edits (some 20 minutes)
edits-long: $(BUILD)/navd
	@EDIT_SECONDS=60 EDIT_REQUESTS=10000 CRASH_ROUNDS=200 $(PYTHON) tests/http/run --binary $(BUILD)/navd \
		edits_load crash_edits
.PHONY: edits-long

## rewrite the sources in the project's layout
format:
	clang-format -i $(FORMATTED)

## layout, layers and compiler warnings of a second compiler
lint:
	@$(PYTHON) tests/lint $(FORMATTED)

## install the Debian packages that are missing
deps: PACKAGES = $(PACKAGES_RUN) $(PACKAGES_TEST)
deps-run: PACKAGES = $(PACKAGES_RUN)
deps deps-run:
	@.ci/deps $(PACKAGES)
# Node comes in more ways than Debian's packages.
deps: deps-node
deps-node:
	@command -v npm >/dev/null || .ci/deps nodejs npm

## this list
help:
	@awk '/^## / { text = substr($$0, 4); next } /^[a-z-]+:/ { if (text) { split($$0, w, ":"); printf "  make %-12s %s\n", w[1], text } } { text = "" }' Makefile

## remove build/
clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
