/**
 * How long one request keeps others waiting, and what memory it takes: on every route, each of the bodies that take as much
 * work as a body may. A key of another organization asks for `/v1/models` all the while, which the same worker answers.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { findWorkerPid } from "../support/gateway-processes.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { startUpstream } from "../support/upstream.ts";
import { formatTable } from "./table.ts";
import {
  formatWaitBody,
  NATIVE_MODEL,
  WAIT_ROUTES,
  WAIT_SHAPES,
  type WaitRoute,
  type WaitShape,
} from "./wait-bodies.ts";

const MEGABYTE = 1_000_000;

/** Bodies of one key at once, on each route, of the shape whose steps are the longest. */
const TOGETHER = { shape: "one text", count: 8 };

/** In a thread of its own, which nothing else holds up: asks one after the other, and tells the longest wait on demand. */
const PROBE = `
const { parentPort, workerData } = require("node:worker_threads");
const { Agent, get } = require("node:http");
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let longestMs = 0, failures = 0;
function ask() {
  const startMs = performance.now();
  const headers = { authorization: "Bearer " + workerData.key };
  const done = () => { longestMs = Math.max(longestMs, performance.now() - startMs); setTimeout(ask, 2); };
  get(workerData.url, { agent, headers }, (answer) => {
    if (answer.statusCode !== 200) failures += 1;
    answer.resume().on("end", done);
  }).on("error", () => { failures += 1; done(); });
}
ask();
parentPort.on("message", () => { parentPort.postMessage({ longestMs, failures }); longestMs = 0; failures = 0; });
`;

interface Probed {
  readonly longestMs: number;
  readonly failures: number;
}

interface WaitResult extends Probed {
  readonly route: string;
  readonly shape: string;
  readonly bodyMegabytes: number;
  /** One for each of the bodies. */
  readonly statuses: readonly number[];
  /** The worker's most, above what it had before the first of all. */
  readonly memoryMegabytes: number;
}

/** @param report Told of each as soon as it is measured. */
export async function measureWaits(report: (result: WaitResult) => void): Promise<readonly WaitResult[]> {
  const upstream = await startUpstream();
  // The work on answers is not what is measured here.
  upstream.answer({ kind: "json", body: textCompletion("ok", null) });
  const results: WaitResult[] = [];
  const entry = { url: upstream.url, path_prefix: "/v1" };
  const stack = await startStack({
    upstreams: [
      { name: "local", ...entry },
      { name: "native", ...entry, protocols: ["messages", "responses"] },
    ],
    catalog: [
      catalogEntry({ capabilities: ["chat", "embeddings", "completions"] }),
      catalogEntry({ id: NATIVE_MODEL, upstream: "native" }),
    ],
    workers: 1,
  });
  const probe = new Worker(PROBE, {
    eval: true,
    workerData: { url: `${stack.baseUrl}/v1/models`, key: (await stack.createKey()).key },
  });
  const readProbe = (): Promise<Probed> =>
    new Promise((resolve) => {
      probe.once("message", resolve);
      probe.postMessage("read", []);
    });
  try {
    const idleMegabytes = readMegabytes(findWorkerPid(stack.configFile, 0), "VmRSS");
    for (const route of WAIT_ROUTES) {
      for (const result of await measureRoute(stack, route, idleMegabytes, readProbe)) {
        results.push(result);
        report(result);
      }
    }
  } finally {
    await probe.terminate();
    await stack.stop();
    await upstream.close();
  }
  return results;
}

async function measureRoute(
  stack: Stack,
  route: WaitRoute,
  idleMegabytes: number,
  readProbe: () => Promise<Probed>,
): Promise<WaitResult[]> {
  const { key } = await stack.createKey();
  const pid = findWorkerPid(stack.configFile, 0);
  const results: WaitResult[] = [];
  const measure = async (shape: WaitShape, count: number): Promise<void> => {
    const body = formatWaitBody(route, shape);
    // The peak is counted from now on.
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    await readProbe();
    const headers = { "content-type": "application/json" };
    const request = { key, path: route.path, body, headers, timeoutMs: 300_000 };
    const answers = await Promise.all(Array.from({ length: count }, () => stack.send(request)));
    const probed = await readProbe();
    const memoryMegabytes = readMegabytes(pid, "VmHWM") - idleMegabytes;
    results.push({
      route: route.name,
      shape: count === 1 ? shape.name : `${shape.name}, ${count} at once`,
      bodyMegabytes: body.byteLength / MEGABYTE,
      statuses: answers.map(({ status }) => status),
      memoryMegabytes,
      ...probed,
    });
  };
  for (const shape of WAIT_SHAPES) await measure(shape, 1);
  for (const shape of WAIT_SHAPES.filter(({ name }) => name === TOGETHER.shape)) {
    await measure(shape, TOGETHER.count);
  }
  return results;
}

export function formatWaits(results: readonly WaitResult[]): string {
  return formatTable(
    ["route", "body", "MB", "status", "longest wait of others ms", "their failures", "memory MB"],
    results.map((result) => [
      result.route,
      result.shape,
      result.bodyMegabytes.toFixed(1),
      result.statuses.join(" "),
      result.longestMs.toFixed(0),
      String(result.failures),
      result.memoryMegabytes.toFixed(0),
    ]),
  );
}

function readMegabytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return (Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / MEGABYTE;
}
