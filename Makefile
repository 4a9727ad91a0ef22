# navd: one command for one thing; `make help` lists them.
CC ?= cc
CXX ?= c++
PYTHON ?= python3
BUILD ?= build
SAN ?=
OPT ?= -O2 -g

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

NAVCORE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard navcore/*.c))
API_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard api/*.c)) $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard api/*.cpp))
SERVER_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard server/*.c))
API_LIBS := -lcjson
SERVER_LIBS := -lmicrohttpd -luv

.PHONY: all
all: $(BUILD)/navd

$(BUILD)/navd: $(SERVER_OBJ) $(BUILD)/libapi.a $(BUILD)/libnavcore.a
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(SERVER_LIBS) $(API_LIBS) -lpthread -lm

$(BUILD)/libnavcore.a: $(NAVCORE_OBJ)
	@rm -f $@; ar rcs $@ $^
$(BUILD)/libapi.a: $(API_OBJ)
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

# Unit tests: tests/unit/test_<module>.c is one program each, with tests/support/*.c beside it.
SUPPORT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
TEST_INC := -Itests/support -Iapi -Inavcore

$(BUILD)/tests/support/%.o: tests/support/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(TEST_INC) $(DEP) -c -o $@ $<
$(BUILD)/tests/unit/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(TEST_INC) $(DEP) -c -o $@ $<
$(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(SUPPORT_OBJ) $(BUILD)/libapi.a $(BUILD)/libnavcore.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ -lcmocka $(API_LIBS) -lpthread -lm
# A test of navcore alone while the api does not build: make build/core/test_x
$(BUILD)/core/%: $(BUILD)/tests/unit/%.o $(SUPPORT_OBJ) $(BUILD)/libnavcore.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcmocka -lm

.PRECIOUS: $(BUILD)/%.o
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
