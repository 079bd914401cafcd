import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/config/load.ts";
import { fillTemplate } from "../../../src/launcher/default-config.ts";

const template = readFileSync(new URL("../../../src/launcher/default-gateway.yaml", import.meta.url), "utf8");

describe("the built-in configuration", () => {
  it("is valid, whatever is in the paths, and offers a chat and an embeddings model on the documented ports", () => {
    const values = { dataDir: `/srv/it's "data"`, sockets: "/srv/run", demoUrl: "http://127.0.0.1:4711" };
    const config = parseConfig(fillTemplate(template, values), { baseDir: "/" });
    expect(config).toMatchObject({
      listen: { host: "127.0.0.1", port: 10_000, tls: null },
      admin: { host: "127.0.0.1", port: 10_001 },
      dataDir: values.dataDir,
      sidecar: { sockets: "/srv/run" },
      redis: null,
      catalog: [{ id: "demo/echo" }, { id: "demo/embed" }],
    });
  });
});
