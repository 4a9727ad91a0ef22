# Fuzz targets: tests/fuzz/fuzz_NAME.c, and reader_FORMAT, which is fuzz_reader.c with one row of the table of formats,
# for each format that has a folder of kept inputs. Those are in tests/fuzz/corpus/NAME; NAME.dict holds words.
FUZZ_SECONDS ?= 60
READER ?=
FUZZ_READERS := $(notdir $(wildcard tests/fuzz/corpus/reader_*))
FUZZERS := $(filter-out reader,$(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))) $(FUZZ_READERS)
FUZZED := $(if $(READER),$(addprefix reader_,$(READER)),$(FUZZERS))

$(FUZZ_READERS:%=$(BUILD)/tests/fuzz/fuzz_%.o): $(BUILD)/tests/fuzz/fuzz_reader_%.o: tests/fuzz/fuzz_reader.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(TEST_INC) -DFORMAT='"$*"' $(DEP) -c -o $@ $<
# With a plain main, for the tests: the kept inputs once more.
$(BUILD)/replay/%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(LIBS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(API_LIBS) -lpthread -lm
# With libFuzzer, when built by `make fuzz`.
$(BUILD)/fuzzer/%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIBS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(API_LIBS) -lpthread -lm
replay: $(addprefix $(BUILD)/replay/,$(FUZZERS))

## fuzz each target for FUZZ_SECONDS (READER="mset obj": those readers only); finds are kept in build/fuzz
fuzz: deps-fuzz
	@$(QUIETLY) CC=clang CXX=clang++ BUILD=build/fuzz OPT="-O1 -g" WARN= \
	    SANFLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" \
	    $(addprefix build/fuzz/fuzzer/,$(FUZZED))
	@for name in $(FUZZED); do \
	    case $$name in reader_*) length=16384 ;; *) length=4096 ;; esac; \
	    dict=tests/fuzz/$$name.dict; \
	    mkdir -p build/fuzz/corpus/$$name && \
	    build/fuzz/fuzzer/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=$$length -print_final_stats=1 \
	        $$(test -f $$dict && echo -dict=$$dict) -artifact_prefix=build/fuzz/$$name- \
	        build/fuzz/corpus/$$name tests/fuzz/corpus/$$name || exit 1; \
	done
deps-fuzz: deps-run
	@.ci/deps clang libclang-rt-14-dev
.PHONY: fuzz replay deps-fuzz
