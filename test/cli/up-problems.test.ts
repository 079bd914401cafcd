/** What `up` says is wrong as soon as it runs, and how other commands find it from its folder. */
import { afterAll, describe, expect, it } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { callCli } from "./call-cli.ts";

const closedPort = await findFreePort();
const listenPort = await findFreePort();
let alive: ScriptedUpstream;

const stack = withStack(async () => {
  alive = await startUpstream();
  return {
    isLauncherOwnProcess: true,
    upstreams: [
      { name: "local", url: `http://127.0.0.1:${closedPort}`, path_prefix: "/v1" },
      { name: "nameless", url: "http://models.invalid:8000" },
      { name: "alive", url: alive.url },
    ],
    overrides: {
      admin: { port: 0 },
      // Nobody listens there either: what doctor calls a warning is not told.
      public_base_url: `http://127.0.0.1:${listenPort}`,
    },
  };
});
afterAll(async () => alive?.close());

describe("inference-gateway up", () => {
  it("says after its banner what is wrong already, a line for each problem and nothing else", async () => {
    const { stderr } = await waitFor("what is wrong", () => {
      const current = stack();
      return current.stderr.includes("public_base_url") || /can't be reached.*\n/u.test(current.stderr)
        ? current
        : null;
    });
    const lines = stderr.slice(stderr.indexOf("Problems found at startup:")).trimEnd().split("\n");
    expect(lines).toEqual([
      "Problems found at startup:",
      expect.stringMatching(
        `^  The upstream local refused the connection: nothing listens at its address \\(http://127\\.0\\.0\\.1:${closedPort}/v1: .* → .*Start the model server`,
      ),
      expect.stringMatching(
        "^  The upstream nameless has a host name without an address \\(http://models\\.invalid:8000/v1: .* → ",
      ),
      expect.stringMatching(`^  http://127\\.0\\.0\\.1:${listenPort} can't be reached: .* → `),
    ]);
    expect(alive.requests).toEqual([]);
  });

  it("is found by doctor from its folder, which says the same", async () => {
    const { dir, configFile } = stack();
    const result = await callCli(["doctor", "--json"], { cwd: dir });
    const { findings } = result.json() as { findings: { check: string; level: string; what: string }[] };
    const of = (check: string) => findings.filter((finding) => finding.check === check);
    expect(result.code).toBe(1);
    expect(of("configuration")).toMatchObject([{ what: `${configFile} is valid.` }]);
    expect(of("worker.0")).toMatchObject([{ level: "ok" }]);
    expect(of("envoy.ready")).toMatchObject([{ level: "ok" }]);
    expect(of("upstream.local")).toMatchObject([
      {
        level: "problem",
        what: `The upstream local refused the connection: nothing listens at its address (http://127.0.0.1:${closedPort}/v1: connect ECONNREFUSED 127.0.0.1:${closedPort}).`,
      },
    ]);
  });

  it("is found by the management commands from its folder, on a free port of this start", async () => {
    const result = await callCli(["org", "list", "--json"], { cwd: stack().dir });
    expect(result).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("inference-gateway doctor", () => {
  it("says in one sentence that there is no gateway in a folder where none has run", async () => {
    const { code, stdout, stderr } = await callCli(["doctor"], { cwd: "/" });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe("No gateway runs from this directory, and it has no gateway.yaml. Pass --config.\n");
  });
});
