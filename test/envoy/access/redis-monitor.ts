import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { readScript } from "../../../src/store/redis/scripts.ts";
import { waitFor } from "../../support/wait.ts";

/** SHA-1 by which Redis knows the script of admission. */
export const ADMIT_SHA = createHash("sha1").update(readScript("admit.lua")).digest("hex");

export interface RedisMonitor {
  /** Every command since the start, each as its words. */
  readonly commands: readonly (readonly string[])[];
  /** Commands whose words contain all of these texts. */
  find(...texts: readonly string[]): readonly (readonly string[])[];
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
