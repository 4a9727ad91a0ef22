# Benchmarks beside Detour (librecast-dev); with --ours navd's side alone, for profiling.
BENCH_OBJ := $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard tests/bench/*.cpp))
BENCH := $(BUILD)/bench/bench_detour

$(BUILD)/tests/bench/%.o: tests/bench/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS_ALL) $(TEST_INC) -Itests/generate -isystem /usr/include/recastnavigation $(DEP) -c -o $@ $<

$(BENCH): $(BENCH_OBJ) $(LEVEL_OBJ) $(BUILD)/libsupport.a $(BUILD)/libnavcore.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ -lDetourCrowd -lDetourTileCache -lDetour -lm

bench:
	@$(MAKE) --no-print-directory $(BENCH)
	$(BENCH) --json $(BUILD)/bench.json $(ARGS)
