import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { findEnvoy } from "./envoy-binary.ts";

const START_TIMEOUT_MS = 20_000;

/** A running Envoy of a rendered bootstrap. */
export class EnvoyProcess {
  readonly #child: ChildProcess;
  readonly #adminSocket: string;
  #output = "";

  /** Starts Envoy; its configuration is written into the folder, its admin socket is where the bootstrap says. */
  constructor(
    folder: string,
    bootstrap: string,
    adminSocket: string,
    env: Readonly<Record<string, string>> = {},
  ) {
    const file = join(folder, "envoy.yaml");
    writeFileSync(file, bootstrap);
    this.#adminSocket = adminSocket;
    this.#child = spawn(
      findEnvoy(),
      [
        "-c",
        file,
        "--disable-hot-restart",
        "--concurrency",
        "1",
        "-l",
        "warn",
        "--file-flush-interval-msec",
        "20",
      ],
      { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } },
    );
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#output += chunk.toString();
    });
  }

  /** Waits until Envoy serves. @returns The port of its listener. */
  async waitUntilReady(): Promise<number> {
    await waitFor("Envoy is ready", async () => {
      if (this.#child.exitCode !== null) throw new Error(`Envoy exited: ${this.#output}`);
      return (await this.admin("/ready")).startsWith("LIVE");
    });
    const listeners = JSON.parse(await this.admin("/listeners?format=json")) as {
      listener_statuses: { local_address: { socket_address: { port_value: number } } }[];
    };
    return listeners.listener_statuses[0]?.local_address.socket_address.port_value ?? 0;
  }

  /** Body of an answer of the admin interface; empty while it does not listen. */
  async admin(path: string): Promise<string> {
    return new Promise((resolve) => {
      const call = request({ socketPath: this.#adminSocket, path, timeout: 2000 }, (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => (body += chunk.toString()));
        response.on("end", () => resolve(body));
      });
      call.on("error", () => resolve(""));
      call.end();
    });
  }

  /** A counter or gauge of Envoy's, or 0. */
  async stat(name: string): Promise<number> {
    const line = (await this.admin(`/stats?filter=^${name.replaceAll(".", "\\.")}$`)).split(": ")[1];
    return Number(line ?? 0);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.kill("SIGKILL");
    await gone;
  }
}

/** Asks until the answer is yes. @throws Error naming what did not come true in time. */
export async function waitFor(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
