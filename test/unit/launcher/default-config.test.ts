import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { startDemoUpstream } from "../../../src/operation/demo/upstream.ts";
import { fillTemplate } from "../../../src/operation/launcher/plan.ts";

const template = readFileSync(
  new URL("../../../src/operation/launcher/default-gateway.yaml", import.meta.url),
  "utf8",
);

describe("the built-in configuration", () => {
  it("is valid, whatever is in the paths, and offers two chat models and an embeddings model on the documented ports", () => {
    const values = { dataDir: `/srv/it's "data"`, sockets: "/srv/run", demoUrl: "http://127.0.0.1:4711" };
    const config = parseConfig(fillTemplate(template, values), { baseDir: "/" });
    expect(config).toMatchObject({
      listen: { host: "127.0.0.1", port: 10_000, tls: null },
      admin: { host: "127.0.0.1", port: 10_001 },
      dataDir: values.dataDir,
      sidecar: { sockets: "/srv/run" },
      redis: null,
      catalog: [{ id: "demo/echo" }, { id: "demo/echo-mini" }, { id: "demo/embed" }],
    });
  });

  it("names the models that the demo upstream lists, so that the doctor finds nothing to warn of", async () => {
    const upstream = await startDemoUpstream({ host: "127.0.0.1", port: 0 });
    onTestFinished(() => upstream.close());
    const values = { dataDir: "/srv/data", sockets: "/srv/run", demoUrl: upstream.url };
    const { catalog } = parseConfig(fillTemplate(template, values), { baseDir: "/" });
    const response = await fetch(`${upstream.url}/v1/models`);
    const listed = (await response.json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toEqual(catalog.map(({ upstreamModel }) => upstreamModel));
  });
});
