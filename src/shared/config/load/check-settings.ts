import { join, resolve } from "node:path";
import { isLoopback } from "../../host/local-url.ts";
import type { FieldPath } from "../config-error.ts";
import { hasChat } from "../has-chat.ts";
import type { CrossProblem } from "./check-names.ts";
import { checkOutputPrices } from "./check-output-prices.ts";
import { checkSignIn } from "./check-sign-in.ts";
import { checkUpstreams } from "./check-upstreams.ts";
import { itemsOf, numberOf, textOf, valueAt } from "./raw-values.ts";

/** `sun_path` has 108 bytes on Linux, including the final zero (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107;
/** Longest file name in the socket directory; `gateway-255.sock` has the same length. */
const LONGEST_SOCKET_NAME = "envoy-admin.sock";

/** Checks fields that depend on each other. Works on the raw file, even if wrong. */
export function checkSettings(file: unknown, baseDir: string): CrossProblem[] {
  return [
    ...checkUpstreams(file),
    ...checkRedis(file),
    ...checkModels(file),
    ...checkAffinity(file),
    ...checkLimits(file),
    ...checkAdmin(file),
    ...checkSockets(file, baseDir),
    ...checkSidecar(file),
    ...checkSmtp(file),
    ...checkSignIn(file),
  ];
}

function checkRedis(file: unknown): CrossProblem[] {
  const redis = valueAt(file, "redis");
  if (typeof redis !== "object" || redis === null) return [];
  const has = (field: string): boolean => valueAt(redis, field) !== undefined;
  const kinds = ["url", "cluster", "sentinels"].filter(has);
  const problems: CrossProblem[] = [];
  const add = (message: string, ...path: string[]) => problems.push({ path: ["redis", ...path], message });
  if (kinds.length !== 1) {
    const found = kinds.length === 0 ? "none" : kinds.map((kind) => `\`${kind}\``).join(" and ");
    add(`expected one of \`url\`, \`cluster\` and \`sentinels\`, found ${found}`);
  }
  if (has("sentinels") && !has("name")) add("required with `sentinels`: the primary's name", "name");
  for (const field of ["name", "sentinel_password"]) {
    if (has(field) && !has("sentinels")) add("only used with `sentinels`", field);
  }
  if (has("username") && !has("password")) add("required with `username`", "password");
  if (has("cert_file") && !has("key_file")) add("required with `cert_file`", "key_file");
  if (has("key_file") && !has("cert_file")) add("required with `key_file`", "cert_file");
  return problems;
}

function checkModels(file: unknown): CrossProblem[] {
  return itemsOf(valueAt(file, "catalog")).flatMap((model, index) => {
    if (typeof model !== "object" || model === null) return [];
    const path = ["catalog", index];
    const missing = hasEmbeddingsAlone(model)
      ? []
      : checkOutputPrices(valueAt(model, "prices"), [...path, "prices"]);
    return [
      ...checkOutputTokens(model, [...path, "max_output_tokens"]),
      ...checkCapabilities(model, [...path, "capabilities"]),
      ...missing,
    ];
  });
}

/** Only chat has these: `[tools, completions]` would take the model out of chat without a word. */
const OF_CHAT = ["tools", "vision", "reasoning", "json_schema"];

function checkCapabilities(model: object, path: FieldPath): CrossProblem[] {
  const given = itemsOf(valueAt(model, "capabilities")).filter((one) => typeof one === "string");
  const found = hasChat(given) ? undefined : given.find((one) => OF_CHAT.includes(one));
  return found === undefined ? [] : [{ path, message: `expected \`chat\` as well, because of \`${found}\`` }];
}

function checkOutputTokens(model: object, path: FieldPath): CrossProblem[] {
  const window = numberOf(valueAt(model, "context_window"), Number.POSITIVE_INFINITY);
  const isGiven = valueAt(model, "max_output_tokens") !== undefined;
  if (!isGiven && !hasEmbeddingsAlone(model)) {
    return [{ path, message: "required, but missing; expected a whole number from 1 to 100000000" }];
  }
  const output = numberOf(valueAt(model, "max_output_tokens"), 0);
  if (output <= window) return [];
  const message = `expected at most the context window of ${window} tokens, found ${output}`;
  return [{ path, message }];
}

/** Returns whether the model only has embeddings, so that it generates nothing. */
function hasEmbeddingsAlone(model: object): boolean {
  const capabilities = itemsOf(valueAt(model, "capabilities"));
  return (
    capabilities.includes("embeddings") &&
    !capabilities.includes("chat") &&
    !capabilities.includes("completions")
  );
}

function checkLimits(file: unknown): CrossProblem[] {
  const body = numberOf(valueAt(file, "limits", "max_body_bytes"), 33_554_432);
  const buffered = numberOf(valueAt(file, "limits", "max_buffered_bytes"), 268_435_456);
  if (buffered >= body) return [];
  const message = `expected at least \`max_body_bytes\`, ${body}, found ${buffered}`;
  return [{ path: ["limits", "max_buffered_bytes"], message }];
}

function checkAdmin(file: unknown): CrossProblem[] {
  const problems: CrossProblem[] = [];
  const admin = valueAt(file, "admin");
  const host = textOf(valueAt(admin, "host")) ?? "127.0.0.1";
  const isOpen = valueAt(admin, "tls") === undefined && valueAt(admin, "allow_plain_http") !== true;
  if (isOpen && !isLoopback(host)) {
    const message =
      `${host} can be reached from outside this machine: set \`admin.tls\`, or \`allow_plain_http: true\` if ` +
      "a proxy in front encrypts";
    problems.push({ path: ["admin", "host"], message });
  }
  const port = numberOf(valueAt(admin, "port"), 10_001);
  const listenPort = numberOf(valueAt(file, "listen", "port"), 10_000);
  if (port !== 0 && port === listenPort) {
    const message = `expected another port than \`listen.port\`, found ${port} for both`;
    problems.push({ path: ["admin", "port"], message });
  }
  const healthPort = numberOf(valueAt(admin, "health_port"), 0);
  if (healthPort !== 0 && [port, listenPort].includes(healthPort)) {
    const message = `expected another port than \`admin.port\` and \`listen.port\`, found ${healthPort} twice`;
    problems.push({ path: ["admin", "health_port"], message });
  }
  return problems;
}

function checkSockets(file: unknown, baseDir: string): CrossProblem[] {
  const folder = resolve(baseDir, textOf(valueAt(file, "sidecar", "sockets")) ?? "run");
  const bytes = Buffer.byteLength(join(folder, LONGEST_SOCKET_NAME));
  if (bytes <= MAX_SOCKET_PATH_BYTES) return [];
  const message =
    `the path of a Unix socket can have at most ${MAX_SOCKET_PATH_BYTES} bytes, but ` +
    `${LONGEST_SOCKET_NAME} in ${folder} would have ${bytes}: choose a shorter directory`;
  return [{ path: ["sidecar", "sockets"], message }];
}

function checkSidecar(file: unknown): CrossProblem[] {
  const sidecar = valueAt(file, "sidecar");
  const tcp = valueAt(sidecar, "tcp");
  const hasTls = valueAt(sidecar, "tls") !== undefined;
  if (tcp === undefined && hasTls) {
    const message = "only used with `sidecar.tcp`: only their owner can use Unix sockets";
    return [{ path: ["sidecar", "tls"], message }];
  }
  const host = textOf(valueAt(tcp, "host"));
  const isAllowed = hasTls || valueAt(tcp, "allow_plaintext") === true;
  if (host === null || isAllowed) return [];
  const message = isLoopback(host)
    ? `every program on this machine and in this pod can reach ${host}: remove \`sidecar.tcp\` (for Unix sockets), set ` +
      "`sidecar.tls`, or `allow_plaintext: true` if you trust all of them"
    : `${host} can be reached from outside this machine: set \`sidecar.tls\`, or \`allow_plaintext: true\` if a mesh ` +
      "encrypts it";
  return [{ path: ["sidecar", "tcp", "host"], message }];
}

function checkSmtp(file: unknown): CrossProblem[] {
  const smtp = valueAt(file, "notifications", "smtp");
  const hasUser = valueAt(smtp, "username") !== undefined;
  const hasPassword = valueAt(smtp, "password") !== undefined;
  if (hasUser === hasPassword) return [];
  const [missing, given] = hasUser ? ["password", "username"] : ["username", "password"];
  return [{ path: ["notifications", "smtp", missing], message: `required with \`${given}\`` }];
}

/** Reports models with `affinity: session` whose upstream cannot keep sessions on a server; see ../affinity.ts. */
function checkAffinity(file: unknown): CrossProblem[] {
  const upstreams = new Map(itemsOf(valueAt(file, "upstreams")).map((one) => [valueAt(one, "name"), one]));
  return itemsOf(valueAt(file, "catalog")).flatMap((model, index): CrossProblem[] => {
    if (valueAt(model, "affinity") !== "session") return [];
    const name = valueAt(model, "upstream");
    const obstacle = findObstacle(upstreams.get(name));
    if (obstacle === null) return [];
    const message = `expected \`off\`: sessions can't be kept on a server of \`${String(name)}\`, ${obstacle}`;
    return [{ path: ["catalog", index, "affinity"], message }];
  });
}

function findObstacle(upstream: unknown): string | null {
  if (valueAt(upstream, "endpoint_picker") !== undefined) return "whose `endpoint_picker` chooses servers";
  if (valueAt(upstream, "slow_start_seconds") !== undefined) return "which has `slow_start_seconds`";
  const endpoints = itemsOf(valueAt(upstream, "endpoints"));
  const hasPriorities = endpoints.some((endpoint) => numberOf(valueAt(endpoint, "priority"), 0) > 0);
  return hasPriorities ? "whose `endpoints` have several priorities" : null;
}
