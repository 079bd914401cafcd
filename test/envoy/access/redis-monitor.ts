import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
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

/** `1795921693.638016 [0 unix:redis.sock] "get" "a \\"word\\""` */
function readWords(line: string): string[] {
  const words = [...line.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, word = ""]) => word);
  return words.map((word) => word.replace(/\\(["\\])/g, "$1"));
}

/**
 * Records every command that a Redis receives (MONITOR), on a connection of its own: ioredis takes a line that comes with
 * the reply to MONITOR for the reply to a command that it never sent.
 */
export async function startMonitor(socket: string): Promise<RedisMonitor> {
  const client = new Redis({ path: socket, protocol: 2 });
  const monitor = connect(socket);
  monitor.write("MONITOR\r\n");
  const lines = createInterface({ input: monitor });
  const commands: string[][] = [];
  const isReady = once(lines, "line");
  lines.on("line", (line) => {
    if (line !== "+OK") commands.push(readWords(line));
  });
  await isReady;
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
      monitor.destroy();
    },
  };
}
