# Files that embedded.c takes into the program.
$(BUILD)/api/embedded.o: api/openapi.json $(WEB)
