/** Checks of the workers: their sockets, and their health by gRPC's own protocol. */
import { stat } from "node:fs/promises";
import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { resolveWorkerCount } from "../../shared/config/worker-count.ts";
import { workerSocketName } from "../../envoy/names.ts";
import { type DoctorFinding, found, ok, reasonOf } from "./finding.ts";

const TIMEOUT_MS = 3_000;
/** Empty HealthCheckRequest: uncompressed, no bytes. */
const EMPTY_MESSAGE = Buffer.alloc(5);
/** HealthCheckResponse with `status: SERVING`: field 1, varint 1. */
const SERVING = Buffer.from([0x08, 0x01]);

type Address = { readonly path: string } | { readonly host: string; readonly port: number };

export async function checkWorkers(config: Config): Promise<DoctorFinding[]> {
  return Promise.all(addressesOfWorkers(config).map(checkWorker));
}

export function addressesOfWorkers({ sidecar }: Config): readonly Address[] {
  const { tcp, sockets } = sidecar;
  return Array.from({ length: resolveWorkerCount(sidecar.workers) }, (_, index) =>
    tcp === null
      ? { path: join(sockets, workerSocketName(index)) }
      : { host: tcp.host, port: tcp.port + index },
  );
}

async function checkWorker(address: Address, index: number): Promise<DoctorFinding> {
  const check = `worker.${index}`;
  const where = "path" in address ? address.path : `${address.host}:${address.port}`;
  if ("path" in address) {
    const file = await stat(address.path).catch(() => null);
    if (file !== null && !file.isSocket()) {
      return found("worker_no_socket", check, { message: `${where} isn't a socket.` });
    }
  }
  try {
    const isServing = await checkHealth(address);
    if (isServing) return ok(check, `Worker ${index} serves.`);
    const message = `Worker ${index} at ${where} reports that it isn't serving.`;
    return found("worker_not_serving", check, { message });
  } catch (error) {
    const message = `Worker ${index} at ${where} doesn't respond: ${reasonOf(error)}.`;
    return found("worker_silent", check, { message });
  }
}

async function checkHealth(address: Address): Promise<boolean> {
  const session = connect("http://localhost", { createConnection: () => connectSocket({ ...address }) });
  try {
    return await call(session);
  } finally {
    session.destroy();
  }
}

function call(session: ClientHttp2Session): Promise<boolean> {
  return new Promise((resolve, reject) => {
    session.once("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      te: "trailers",
    });
    const pieces: Buffer[] = [];
    stream.setTimeout(TIMEOUT_MS, () => {
      stream.destroy();
      reject(new Error(`no response in ${TIMEOUT_MS / 1000} s`));
    });
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.once("error", reject);
    stream.once("end", () => resolve(Buffer.concat(pieces).subarray(EMPTY_MESSAGE.length).equals(SERVING)));
    stream.end(EMPTY_MESSAGE);
  });
}
