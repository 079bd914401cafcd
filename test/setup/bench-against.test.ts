/** What `npm run bench -- --against` does beside its statistics: builds another commit, and lets two builds take turns. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepareClone } from "../../src/operation/setup/prepare.js";
import { runCommand } from "../../src/operation/setup/run-command.js";
import { buildCommit } from "../bench/against/other-commit.ts";
import { summarizeRounds } from "../bench/against/report.ts";
import { measureRound, type Round } from "../bench/against/rounds.ts";
import { createLoadGenerator } from "../bench/load.ts";
import { startMock } from "../bench/mock.ts";
import { byExtent } from "../support/extent.ts";

describe("another commit", () => {
  const repository = mkdtempSync(join(tmpdir(), "igw-against-"));
  const place = { repository, builds: join(repository, "builds") };
  afterAll(() => rmSync(repository, { recursive: true, force: true }));

  async function git(...args: string[]): Promise<string> {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    const result = await runCommand("git", [...identity, ...args], { cwd: repository });
    expect(result).toMatchObject({ code: 0 });
    return result.stdout.trim();
  }

  async function commit(subject: string, build: string): Promise<string> {
    writeFileSync(join(repository, "package.json"), JSON.stringify({ name: "other", scripts: { build } }));
    await git("add", "package.json");
    await git("commit", "--quiet", "--message", subject);
    return await git("rev-parse", "HEAD");
  }

  beforeAll(() => git("init", "--quiet"));

  it("is built once by its own command, from its own files, and then reused", async () => {
    const first = await commit("first", "mkdir dist && pwd > dist/main.js");
    await commit("second", "exit 1");
    const built = await buildCommit(first, place);
    expect(built).toMatchObject({ id: first.slice(0, 8), subject: "first", isReused: false });
    expect(existsSync(built.program)).toBe(true);
    expect(await buildCommit("HEAD~1", place)).toEqual({ ...built, isReused: true });
  });

  it("that does not build is named with the step and its output, and leaves nothing", async () => {
    await commit("broken", "echo the cause >&2; exit 1");
    const before = readdirSync(place.builds);
    await expect(buildCommit("HEAD", place)).rejects.toThrow(
      /Cannot build commit \w{8} \(broken\): "npm run build" failed\.[^]*the cause/u,
    );
    await commit("empty", "true");
    await expect(buildCommit("HEAD", place)).rejects.toThrow(/\(empty\) builds no dist\/main\.js/u);
    expect(readdirSync(place.builds)).toEqual(before);
  });

  it("that this clone does not have is said to be missing", async () => {
    await expect(buildCommit("nowhere", place)).rejects.toThrow(
      /Cannot find commit "nowhere" in this clone/u,
    );
  });
});

/** Each starts two stacks: on each push the one that measures all but an idle gateway. */
const ROUNDS = byExtent({ push: ["1k"], nightly: ["1k", "idle"] });
const ROWS = ["1k cold", "1k warm", "1k alone", ...byExtent({ push: [], nightly: ["idle"] })];

describe("two builds in turns", () => {
  it("are measured cold, warm, at one connection and, at night, idle, in their own stacks", async () => {
    await prepareClone();
    const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
    const [mock, load] = [await startMock(), createLoadGenerator()];
    try {
      const contest = {
        // Of the same code, whose calls to Redis are the same.
        programs: [program, program] as const,
        mockPort: mock.port,
        load,
        amount: {
          connections: 4,
          coldRequests: 20,
          workers: 1,
          warmUpSeconds: 0.3,
          turns: byExtent({ push: 1, nightly: 2 }),
          turnSeconds: 0.6,
          idleSeconds: 2,
          idlePerSecond: 5,
        },
      };
      const rounds: Round[] = [];
      for (const row of ROUNDS) rounds.push(await measureRound(contest, row, 0));
      const results = summarizeRounds(rounds);
      expect([...new Set(results.map(({ row }) => row))]).toEqual(ROWS);
      const turns = rounds.flatMap((round) => Object.values(round)).flat(2);
      expect(turns.reduce((sum, { failures }) => sum + failures, 0)).toBe(0);
      for (const { requests, cpuMs } of turns) {
        expect(requests).toBeGreaterThan(0);
        expect(Math.min(cpuMs.sidecar, cpuMs.envoy, cpuMs.redis)).toBeGreaterThan(0);
      }
      expect(rounds[0]?.["1k cold"]?.flat().map(({ requests }) => requests)).toEqual([20, 20]);
      for (const { scriptCalls } of rounds[0]?.["1k alone"]?.flat() ?? []) {
        // An admission and a charge each; now and then one of the background.
        expect(scriptCalls).toBeGreaterThan(1.5);
        expect(scriptCalls).toBeLessThan(3);
      }
    } finally {
      load.close();
      await mock.stop();
    }
    // Two stacks at a time start twice; 25 s on an idle machine.
  }, 600_000);
});
