# The sidecar: gRPC workers for Envoy, management API, dashboard, alert delivery. Envoy and Redis run beside it.
# Runs as a user without rights, on a read-only root file system, and needs no shell. docs/compose.md says how.
ARG BASE=node:26-slim

FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# npm 11 refuses a lock file for optional packages of other platforms that a mirror of the registry does not have;
# `npm install --no-save` takes the same versions from the same lock file.
RUN npm ci --omit=dev --ignore-scripts --loglevel=error \
 || npm install --no-save --omit=dev --ignore-scripts --loglevel=error
# The packages' code is in `dist` but for the tokenizer's; here are their licences and what scanners of images read.
# What nothing reads at run time goes: types, source maps, the tokenizer's other vocabularies.
COPY src/operation/setup/prune-packages.js ./
RUN ["node", "prune-packages.js", "node_modules"]

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts --loglevel=error \
 || npm install --no-save --include=dev --ignore-scripts --loglevel=error
COPY tsconfig.json ./
COPY proto ./proto
COPY src ./src
RUN node src/operation/setup/build-command.js && mkdir -p /empty

FROM ${BASE}
LABEL org.opencontainers.image.title="inference-gateway" \
      org.opencontainers.image.description="API keys, rate limits, spend caps and three wire protocols for hosted language models, as a sidecar of Envoy" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    IGW_HEALTH_URL=http://127.0.0.1:10001/healthz
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY proto ./proto
COPY package.json LICENSE ./
# A new named volume takes over the owner of the folder that it covers.
COPY --from=build --chown=1000:1000 /empty /run/inference-gateway
COPY --from=build --chown=1000:1000 /empty /var/lib/inference-gateway
VOLUME ["/run/inference-gateway", "/var/lib/inference-gateway"]
USER 1000:1000
EXPOSE 10001
# The process, not Redis: a gateway that waits for Redis still serves what it knows.
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.IGW_HEALTH_URL, {signal: AbortSignal.timeout(2000)}).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/inference-gateway/gateway.yaml"]
