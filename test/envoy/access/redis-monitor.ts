import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";
import { ROWS } from "../../../src/data-path/store/redis/row-layouts.ts";
import { waitFor } from "../../support/wait.ts";

const ADMIT = readScript("admit.lua");
/** Redis knows it by its SHA-1; a worker's first admission sends the whole text. */
const ADMIT_SHA = createHash("sha1").update(ADMIT).digest("hex");
const ADMIT_TITLE = ADMIT.slice(0, ADMIT.indexOf("\n"));
/** `evalsha <sha> 8 <8 keys> <8 arguments> <words of each request>` */
const FIRST_REQUEST = 3 + 8 + 8;
const WORDS_OF_REQUEST = ROWS["admitted-request"].length;

export interface RedisMonitor {
  /** Every command since the start, each as its words. */
  readonly commands: readonly (readonly string[])[];
  /** Commands whose words contain all of these texts. */
  find(...texts: readonly string[]): readonly (readonly string[])[];
  /** Ids of the requests whose admission was asked for, each time, of the key with this id. */
  findAdmissions(keyId: string): readonly string[];
  /** Resolves when everything that Redis was sent before this call has been seen. */
  catchUp(): Promise<void>;
  stop(): void;
}

/** Writes down every command that a Redis gets (MONITOR). */
export async function startMonitor(socket: string): Promise<RedisMonitor> {
  const client = new Redis({ path: socket, protocol: 2 });
  const monitor = await new Redis({ path: socket, protocol: 2, lazyConnect: true }).monitor();
  const commands: string[][] = [];
  monitor.on("monitor", (_time: string, words: string[]) => commands.push(words));
  let marks = 0;
  const find = (...texts: readonly string[]) =>
    commands.filter((words) => texts.every((text) => words.some((word) => word.includes(text))));
  return {
    commands,
    find,
    findAdmissions: (keyId) =>
      find(keyId)
        .filter((words) => words.some((word) => word === ADMIT_SHA || word.startsWith(ADMIT_TITLE)))
        .flatMap((words) => words.slice(FIRST_REQUEST).filter((_, index) => index % WORDS_OF_REQUEST === 0)),
    async catchUp() {
      marks += 1;
      const mark = `test-mark-${marks}-end`;
      await client.echo(mark);
      await waitFor("the monitor to have seen everything", () => find(mark).length > 0);
    },
    stop() {
      client.disconnect();
      monitor.disconnect();
    },
  };
}
