/** What the tests of `inference-gateway doctor` share: a configuration to look at, and what was found. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { examine, isSound } from "../../../src/operation/doctor/doctor.ts";
import type { DoctorFinding } from "../../../src/operation/doctor/finding.ts";
import { createRedisClient, waitUntilReady } from "../../../src/data-path/store/redis/client.ts";
import { createStore } from "../../../src/data-path/store/redis-store.ts";
import type { Store } from "../../../src/shared/stored/store.ts";
import { catalogEntry, mergeConfig } from "../../support/gateway-config.ts";
import { type PrivateRedis, startRedis } from "../../support/redis.ts";
import { createTestAuthority, type TestAuthority } from "../../support/tls.ts";

export interface Report {
  /** No problem among them. */
  readonly isSound: boolean;
  readonly findings: readonly DoctorFinding[];
}

export interface DoctorWorld {
  readonly dir: string;
  /** Sound, with an append-only file. */
  readonly redis: PrivateRedis;
  /** Nothing listens there. */
  readonly closedPort: number;
  readonly authority: TestAuthority;
  /** A folder of its own. */
  createFolder(): Promise<string>;
  /**
   * Looks at a configuration in a folder of its own, where nothing of a gateway runs. `T_SECRET` is set.
   * @param prepare Called with that folder before.
   */
  examine(overrides?: object, prepare?: (folder: string) => Promise<void>): Promise<Report>;
  /** What the command looks at with this file; doctor.test.ts has the command itself. */
  examineFile(file: string): Promise<Report>;
  /** The store in that Redis, or in another. */
  withStore<T>(use: (store: Store) => Promise<T>, url?: string): Promise<T>;
  close(): Promise<void>;
}

export const SECRET = "s3cret-value";

/** One way to one finding. */
export interface Provocation {
  readonly name: string;
  /** Breaks something, looks, and puts it back. */
  readonly provoke: (world: DoctorWorld) => Promise<Report>;
  /** Of the finding's message. */
  readonly says: RegExp;
  /** Why it cannot be tried here; null or left out: it can. */
  readonly missing?: string | null;
}

export async function createDoctorWorld(): Promise<DoctorWorld> {
  process.env["T_SECRET"] = SECRET;
  const dir = await mkdtemp(join(tmpdir(), "igw-doc-"));
  const redis = await startRedis({ appendOnly: true });
  const authority = await createTestAuthority();
  // None of those that tests beside this one are given: what is asked of it would reach their upstreams.
  const closedPort = 2;
  let made = 0;
  const createFolder = async (): Promise<string> => {
    made += 1;
    const folder = join(dir, String(made));
    await mkdir(folder);
    return folder;
  };
  const examineFile = async (file: string): Promise<Report> => {
    const findings = await examine(file);
    return { findings, isSound: isSound(findings) };
  };
  return {
    dir,
    redis,
    closedPort,
    authority,
    createFolder,
    examineFile,
    async examine(overrides = {}, prepare) {
      const folder = await createFolder();
      const base = {
        sidecar: { workers: 1, sockets: "run/" },
        redis: { url: redis.url },
        upstreams: [{ name: "local", url: `http://127.0.0.1:${closedPort}` }],
        catalog: [catalogEntry()],
      };
      const file = join(folder, "gateway.yaml");
      await writeFile(file, stringify(mergeConfig(base, overrides)));
      await prepare?.(folder);
      return examineFile(file);
    },
    async withStore(use, url = redis.url) {
      const client = createRedisClient({ url, commandTimeoutMs: 5_000, onError: () => undefined });
      try {
        await waitUntilReady(client, 5_000);
        return await use(createStore({ client, usageMonths: 13 }));
      } finally {
        client.disconnect();
      }
    },
    async close() {
      await authority.close();
      await redis.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
