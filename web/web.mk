# The viewer: bundled once for every build, taken into the program by api/embedded.c.
WEB := build/web/index.html build/web/viewer.js build/web/style.css

web/node_modules/.package-lock.json: web/package-lock.json
	@command -v npm >/dev/null || .ci/deps nodejs npm
	@cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

$(WEB) &: web/node_modules/.package-lock.json web/build.mjs $(wildcard web/src/*)
	@cd web && node build.mjs ../build/web
