import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { renderBootstrap } from "../../envoy/bootstrap/render-bootstrap.ts";
import { writeUpstreamSecrets } from "../../envoy/bootstrap/upstream-secrets.ts";
import { ENVOY_ADMIN_SOCKET_NAME } from "../../envoy/names.ts";
import { pause } from "../../shared/event-loop/wait.ts";
import { startGuarded } from "./guarded-process.ts";
import { rotateLog } from "./log-file.ts";
import type { ManagedProcess } from "./managed-process.ts";

const ADMIN_TIMEOUT_MS = 1_000;
const POLL_MS = 50;

export interface EnvoyOptions {
  readonly program: string;
  /** Running configuration, with actual sockets and ports. */
  readonly config: Config;
  readonly logDir: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Writes the bootstrap and the upstreams' credentials next to the sockets and starts Envoy. */
export async function startEnvoy(options: EnvoyOptions): Promise<ManagedProcess> {
  const { config, logDir } = options;
  const { sockets } = config.sidecar;
  const secretsDirectory = secretsFolder(sockets);
  const accessLogFile = accessLogIn(logDir);
  const bootstrap = join(sockets, "envoy.yaml");
  rotateLog(accessLogFile);
  await writeUpstreamSecrets(config, secretsDirectory);
  writeFileSync(bootstrap, renderBootstrap(config, { secretsDirectory, accessLogFile }), { mode: 0o600 });
  const args = ["-c", bootstrap, "--disable-hot-restart", "--log-level", "warning"];
  return startGuarded({
    name: "Envoy",
    command: options.program,
    // While draining, it closes connections as soon as nothing is in flight.
    args: [...args, "--drain-strategy", "immediate", "--drain-time-s", "5"],
    env: options.env,
    logPath: join(logDir, "envoy.log"),
  });
}

export function accessLogIn(logDir: string): string {
  return join(logDir, "access.log");
}

/** Makes Envoy open its access log again by name. Never rejects. */
export async function reopenAccessLog(sockets: string): Promise<void> {
  await callAdmin(join(sockets, ENVOY_ADMIN_SOCKET_NAME), "POST", "/reopen_logs");
}

/** Returns the directory of the upstreams' credentials. */
export function secretsFolder(sockets: string): string {
  return join(sockets, "secrets");
}

/** Stops accepting connections and waits until no request is in flight, at most `boundMs`. Never rejects. */
export async function drainEnvoy(sockets: string, boundMs: number): Promise<void> {
  const admin = join(sockets, ENVOY_ADMIN_SOCKET_NAME);
  const deadlineMs = performance.now() + boundMs;
  if ((await callAdmin(admin, "POST", "/drain_listeners")) === null) return;
  while (performance.now() < deadlineMs) {
    const stats = await callAdmin(admin, "GET", "/stats?filter=%5Ehttp%5C..*downstream_rq_active%24");
    if (stats === null || countActiveRequests(stats) === 0) return;
    await pause(POLL_MS);
  }
}

/** Sums lines such as `http.gateway.downstream_rq_active: 2`, without Envoy's admin interface. */
export function countActiveRequests(stats: string): number {
  const counts = stats
    .split("\n")
    .filter((line) => !line.startsWith("http.admin."))
    .map((line) => Number(/downstream_rq_active: (\d+)$/.exec(line.trim())?.[1] ?? "0"));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns the response's body; null on failure. */
function callAdmin(socketPath: string, method: "GET" | "POST", path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const call = request(
      { socketPath, method, path, timeout: ADMIN_TIMEOUT_MS, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.once("end", () => resolve(response.statusCode === 200 ? text : null));
        response.once("error", () => resolve(null));
      },
    );
    call.once("timeout", () => call.destroy());
    call.once("error", () => resolve(null));
    call.end();
  });
}
