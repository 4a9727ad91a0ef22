FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        build-essential libmicrohttpd-dev libuv1-dev libcjson-dev zlib1g-dev libxxhash-dev nodejs npm \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Makefile ./
COPY web web
COPY navcore navcore
COPY api api
COPY server server
RUN make -j"$(nproc)" build/navd && strip build/navd

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libmicrohttpd12 libuv1 libcjson1 zlib1g libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home navd \
    && install -d -o navd -g navd /meshes
COPY --from=build /src/build/navd /usr/local/bin/navd
USER navd
ENV NAVD_LISTEN=0.0.0.0:8080 NAVD_MESHES=/meshes
VOLUME /meshes
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s CMD ["navd", "--healthcheck"]
ENTRYPOINT ["navd"]
