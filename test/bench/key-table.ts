/** Keys by the hundred thousand, straight in Redis as the store writes them. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createKey, displayKey, hashKey } from "../../src/data-path/auth/key-format.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { keyListKey, keyRecordKey, lookUpKey } from "../../src/data-path/store/redis/keys.ts";
import { formatKeySettings } from "../../src/data-path/store/management/records.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { KEY_SETTINGS, type KeySettings } from "../../src/shared/settings/key.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { createTestKey } from "../support/test-key.ts";
import { monthLimits } from "../support/month-limits.ts";

export interface BenchKey {
  readonly organizationId: string;
  readonly keyId: string;
  readonly presentedHash: string;
}

const ID_CHARACTERS = 40;
const HASH_BYTES = 32;
const ROW_BYTES = ID_CHARACTERS + HASH_BYTES;

/** Outside of the heap: a million objects would have the collector measured too. */
export class KeyTable {
  readonly #organizations: readonly string[];
  readonly #rows: Buffer;
  length = 0;

  constructor(organizations: readonly string[], capacity: number) {
    this.#organizations = organizations;
    this.#rows = Buffer.alloc(capacity * ROW_BYTES);
  }

  /** The next one in the turn of the organizations. */
  push(keyId: string, presentedHash: string): void {
    const start = this.length * ROW_BYTES;
    this.#rows.write(keyId, start, "latin1");
    this.#rows.write(presentedHash, start + ID_CHARACTERS, "hex");
    this.length += 1;
  }

  at(index: number): BenchKey {
    const start = index * ROW_BYTES;
    const split = start + ID_CHARACTERS;
    return {
      organizationId: this.#organizations[index % this.#organizations.length] ?? "",
      keyId: this.#rows.toString("latin1", start, split),
      presentedHash: this.#rows.toString("hex", split, split + HASH_BYTES),
    };
  }
}

const SETTINGS: KeySettings = {
  ...defaultsOf(KEY_SETTINGS),
  name: "production key of a customer",
  // Nobody is refused: a refusal is another, longer way through the script.
  requestsPerMinute: 1_000_000,
  limits: monthLimits({ cap: 5_000, budget: 4_000 }),
};
const KEYS_PER_WRITE = 1_000;

export async function createOrganizations(store: Store, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await createTestKey(store)).organizationId);
  return ids;
}

/** Writes records, lists and look-ups as `createKey` of the store does, many in one write. `path`: Redis's socket. */
export async function fillKeys(
  path: string,
  organizations: readonly string[],
  keys: KeyTable,
  count: number,
  onKey: (key: string) => void = () => undefined,
): Promise<void> {
  const connection = connect({ path });
  const state = { missing: 3 * count };
  // Every reply is one line: integers, or OK.
  connection.on("data", (bytes: Buffer) => {
    for (const byte of bytes) if (byte === 0x0a) state.missing -= 1;
  });
  for (let start = 0; start < count; start += KEYS_PER_WRITE) {
    const commands: string[] = [];
    for (let index = start; index < Math.min(count, start + KEYS_PER_WRITE); index += 1) {
      const organizationId = organizations[keys.length % organizations.length] ?? "";
      const key = createKey();
      onKey(key);
      const keyId = createId("key", Date.now());
      const presentedHash = hashKey(key);
      const record = {
        hash: presentedHash,
        display: displayKey(key),
        created_at: String(Date.now()),
        version: "1",
      };
      const fields = [...formatKeySettings(SETTINGS), ...Object.entries(record).flat()];
      commands.push(
        formatCommand(["HSET", keyRecordKey(organizationId, keyId), ...fields]),
        formatCommand(["ZADD", keyListKey(organizationId), "0", keyId]),
        formatCommand(["SET", lookUpKey(presentedHash), `${organizationId} ${keyId}`]),
      );
      keys.push(keyId, presentedHash);
    }
    await write(connection, commands.join(""));
  }
  while (state.missing > 0) await once(connection, "data");
  connection.destroy();
}

async function write(connection: Socket, text: string): Promise<void> {
  if (!connection.write(text)) await once(connection, "drain");
}

function formatCommand(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}
