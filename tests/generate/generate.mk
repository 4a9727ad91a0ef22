# The generator of sample and benchmark meshes. Rules below need $(BUILD)/libsupport.a from the top Makefile.
LEVEL_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/generate/make_meshes.c,$(wildcard tests/generate/*.c)))
MAKE_MESHES := $(BUILD)/generate/make_meshes

$(MAKE_MESHES): $(BUILD)/tests/generate/make_meshes.o $(LEVEL_OBJ) $(BUILD)/libsupport.a $(BUILD)/libnavcore.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

.PHONY: samples terrains
## write samples/ anew (always the same bytes)
samples: $(MAKE_MESHES)
	$(MAKE_MESHES) samples samples

## terrains of about 100 to 200,000 polygons for trying out, in build/meshes
terrains: $(MAKE_MESHES)
	@mkdir -p $(BUILD)/meshes
	$(MAKE_MESHES) terrain 22 1 $(BUILD)/meshes/terrain-100.obj
	$(MAKE_MESHES) terrain 66 1 $(BUILD)/meshes/terrain-1k.obj
	$(MAKE_MESHES) terrain 210 1 $(BUILD)/meshes/terrain-10k.obj
	$(MAKE_MESHES) terrain 945 1 $(BUILD)/meshes/terrain-200k.json
