import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import type * as freePort from "../../support/free-port.ts";

const MODULE = "../../support/free-port.ts";
/** More than half of a block: two processes that shared one would meet. */
const PORTS = 150;

afterEach(() => vi.restoreAllMocks());

/** The module as another process has it: with a state of its own. */
async function loadAnew(copy: string): Promise<() => Promise<number>> {
  return ((await import(`${MODULE}?${copy}`)) as typeof freePort).findFreePort;
}

async function take(find: () => Promise<number>, count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await find());
  return ports;
}

it("no two processes are given the same port, though nobody listens on it yet and both begin at the same place", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const ports = [
    ...(await take(await loadAnew("first"), PORTS)),
    ...(await take(await loadAnew("second"), PORTS)),
    ...(await take(await loadAnew("third"), PORTS)),
  ];
  expect(new Set(ports).size).toBe(3 * PORTS);
});

it("a port that somebody listens on is given to nobody, also when all others were given", async () => {
  const find = await loadAnew("fourth");
  const first = await find();
  const server = createServer().listen(first + 1, "127.0.0.1");
  await once(server, "listening");
  const ports = await take(find, 2 * PORTS);
  server.close();
  expect(ports).not.toContain(first + 1);
  // All of them come once more before the search is given up.
  expect(ports).toContain(first);
});
