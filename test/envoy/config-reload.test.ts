/** `gateway.yaml` rewritten under a running stack: what counts at once, what waits, what is refused, and who says so. */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { callCli } from "../cli/call-cli.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL, replaceConfigFile } from "../support/gateway-config.ts";
import { findWorkerPid, waitForNewWorker } from "../support/gateway-processes.ts";
import { parseMetrics, sumOf } from "../support/metrics-page.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";

interface ConfigurationState {
  readonly catalog_since: string;
  readonly refused: { readonly problems: readonly { readonly path: string }[] } | null;
  readonly waiting_for_restart: readonly string[];
}
interface FileContent {
  readonly upstreams: readonly object[];
  readonly catalog: readonly object[];
  readonly [section: string]: unknown;
}

const NEW = "acme/new";

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

describe("a changed gateway.yaml under a running stack", () => {
  const stack = withStack(() => ({ workers: 2, upstreams: [{ name: "local", url: upstream.url }] }));
  let original: FileContent;
  let key: string;
  beforeAll(async () => {
    original = parse(readFileSync(stack().configFile, "utf8")) as FileContent;
    ({ key } = await stack().createKey());
  });
  beforeEach(async () => {
    upstream.reset();
    await write(original);
  });

  const readState = async () =>
    (await stack().admin("GET", "/api/configuration")) as unknown as ConfigurationState;
  const chat = (model: string) => stack().send({ path: CHAT_PATH, key, body: { ...chatBody(), model } });
  const withModel = (fields: object = {}) => ({
    ...original,
    catalog: [...original.catalog, catalogEntry({ id: NEW, ...fields })],
  });
  const examine = async () => {
    const { findings } = (await callCli(["doctor", "--config", stack().configFile, "--json"])).json();
    return (findings as { code: string | null; what: string }[]).filter(({ code }) => code !== null);
  };

  /** In one step, as editors do; resolves when the running gateway has dealt with it. */
  async function write(content: FileContent): Promise<ConfigurationState> {
    const { configFile } = stack();
    if (readFileSync(configFile, "utf8") === stringify(content)) return readState();
    const before = JSON.stringify(await readState());
    replaceConfigFile(configFile, content);
    return waitForState((state) => JSON.stringify(state) !== before);
  }
  const waitForState = (isWanted: (state: ConfigurationState) => boolean): Promise<ConfigurationState> =>
    waitFor("the file to be read again", async () => {
      const state = await readState();
      return isWanted(state) ? state : null;
    });
  /** Every worker: connections go to one after the other. */
  const waitForModel = (model: string, status: number): Promise<unknown> =>
    waitFor(`${status} for ${model} four times`, async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => chat(model)));
      return answers.every((answer) => answer.status === status);
    });

  it("serves a new model on every worker, and a worker that is started later knows it, too", async () => {
    expect((await chat(NEW)).status).toBe(400);
    expect(await write(withModel())).toMatchObject({ refused: null, waiting_for_restart: [] });
    await waitForModel(NEW, 200);
    const { configFile } = stack();
    const killed = findWorkerPid(configFile, 0);
    process.kill(killed, "SIGKILL");
    await waitForNewWorker(configFile, killed, 2);
    await waitForModel(NEW, 200);
  });

  it("refuses a model on an upstream that Envoy does not have, whole, and says so everywhere", async () => {
    const state = await write({
      ...withModel({ upstream: "other" }),
      upstreams: [...original.upstreams, { name: "other", url: upstream.url }],
      catalog: [...withModel({ upstream: "other" }).catalog, catalogEntry({ id: "acme/fine" })],
    });
    expect(state.refused?.problems.map(({ path }) => path)).toEqual(["catalog[1].upstream"]);
    expect(state.waiting_for_restart).toEqual(["upstreams.other"]);
    expect([(await chat(NEW)).status, (await chat("acme/fine")).status]).toEqual([400, 400]);
    const page = await fetch(`${stack().adminUrl}/metrics`);
    expect(sumOf(parseMetrics(await page.text()), "inference_gateway_config_refused")).toBe(1);
    const findings = await examine();
    expect(findings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(["configuration_refused", "configuration_waits", "envoy_cluster_missing"]),
    );
    expect(stack().readLogs()).toContain("changed configuration rejected");
  });

  it("refuses a file with mistakes and names each; workers that are started later have the catalog before", async () => {
    await write(withModel());
    await waitForModel(NEW, 200);
    const { configFile } = stack();
    const state = await write({ ...withModel({ context_window: 0 }), limits: { max_body_byte: 1 } });
    expect(state.refused?.problems.map(({ path }) => path).sort()).toEqual([
      "catalog[1].context_window",
      "catalog[1].max_output_tokens",
      "limits.max_body_byte",
    ]);
    const killed = findWorkerPid(configFile, 1);
    process.kill(killed, "SIGKILL");
    await waitForNewWorker(configFile, killed, 2);
    await waitForModel(NEW, 200);
  });

  it("keeps path prefix and limits of the start, and names them as waiting", async () => {
    const state = await write({
      ...withModel(),
      upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v2" }],
      limits: { max_body_bytes: 2_048 },
    });
    expect(state).toMatchObject({
      refused: null,
      waiting_for_restart: ["upstreams.local.path_prefix", "limits.max_body_bytes"],
    });
    await waitForModel(NEW, 200);
    expect(upstream.requests.map(({ path }) => path)).not.toContain("/v2/chat/completions");
    const large = await stack().send({ path: CHAT_PATH, key, body: chatBody({}, "word ".repeat(1_000)) });
    expect(large.status).toBe(200);
    expect((await examine()).map(({ what }) => what).join("\n")).toContain(
      "`limits.max_body_bytes` has changed",
    );
  });

  it("charges a request that is under way at the price of when it was routed, the next one at the new price", async () => {
    const gate = createGate();
    const body = textCompletion("fine", { promptTokens: 1000, cachedTokens: 0, completionTokens: 100 });
    upstream.answerNext({ kind: "json", before: gate, body });
    const underWay = chat(CHAT_MODEL);
    await upstream.waitForRequests(1);
    upstream.answer({ kind: "json", body });
    const prices = { USD: { input: "25.00", output: "100.00" } };
    const catalog = original.catalog.map((entry) => ({ ...entry, prices }));
    await write({ ...original, catalog: [...catalog, catalogEntry({ id: NEW })] });
    await waitForModel(NEW, 200);
    gate.release();
    expect((await underWay).headers["x-request-cost"]).toBe("0.00350000 USD");
    expect((await chat(CHAT_MODEL)).headers["x-request-cost"]).toBe("0.03500000 USD");
  });

  it("sees a ConfigMap whose ..data link is swapped", async () => {
    const { configFile } = stack();
    const folder = dirname(configFile);
    for (const [version, content] of Object.entries({ "..v1": original, "..v2": withModel() })) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, "gateway.yaml"), stringify(content));
    }
    symlinkSync("..v1", join(folder, "..data"));
    rmSync(configFile);
    symlinkSync("..data/gateway.yaml", configFile);
    const before = await readState();
    symlinkSync("..v2", join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    const state = await waitForState(({ catalog_since }) => catalog_since !== before.catalog_since);
    expect(state).toMatchObject({ refused: null, waiting_for_restart: [] });
    await waitForModel(NEW, 200);
  });
});
