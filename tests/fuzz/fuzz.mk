# Fuzz targets: tests/fuzz/fuzz_NAME.c with kept inputs in tests/fuzz/corpus/NAME and words in NAME.dict.
FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

# With a plain main, for the tests: the kept inputs once more.
$(BUILD)/replay/%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(LIBS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(API_LIBS) -lpthread -lm
# With libFuzzer, when built by `make fuzz`.
$(BUILD)/fuzzer/%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIBS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(API_LIBS) -lpthread -lm
replay: $(addprefix $(BUILD)/replay/,$(FUZZERS))

## fuzz each target for FUZZ_SECONDS; finds are kept in build/fuzz
fuzz: deps-fuzz
	@$(QUIETLY) CC=clang CXX=clang++ BUILD=build/fuzz OPT="-O1 -g" WARN= \
	    SANFLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" \
	    $(addprefix build/fuzz/fuzzer/,$(FUZZERS))
	@for name in $(FUZZERS); do \
	    mkdir -p build/fuzz/corpus/$$name && \
	    build/fuzz/fuzzer/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=4096 -print_final_stats=1 \
	        -dict=tests/fuzz/$$name.dict -artifact_prefix=build/fuzz/ \
	        build/fuzz/corpus/$$name tests/fuzz/corpus/$$name || exit 1; \
	done
deps-fuzz: deps-run
	@.ci/deps clang libclang-rt-14-dev
.PHONY: fuzz replay deps-fuzz
