import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../../../src/shared/config/load.ts";
import { writeFirstConfig } from "../../../src/operation/launcher/first-config/write-first-config.ts";

/** Of each a catalog id can be made, and no YAML that is written carelessly. */
const ODD = [`a"b'c`, "a:b", "a\\b", "#a", "{a}", "&a", "a".repeat(100), "null", "1e3"];

it("names ten of a server's models at the terminal, and writes a valid file with all of them", async () => {
  const ids = [...Array.from({ length: 1_000 }, (_, index) => `acme/m-${index}`), ...ODD];
  const data = [
    ...ids.map((id) => ({ id })),
    ...Array.from({ length: 1_000 }, () => ({ id: "///" })).map((entry, index) => ({
      id: entry.id + "/".repeat(index % 100),
    })),
    ...Array.from({ length: 20 }, () => ({})),
  ];
  const server = createServer((_, response) => void response.end(JSON.stringify({ data })));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const folder = mkdtempSync(join(tmpdir(), "igw-first-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "gateway.yaml");
  const notices: string[] = [];
  const { port } = server.address() as AddressInfo;
  await writeFirstConfig({
    upstream: `http://127.0.0.1:${port}/v1`,
    keyVariable: null,
    file,
    notice: (line) => void notices.push(line),
  });
  expect(notices.filter((line) => line.startsWith("Left out:"))).toHaveLength(11);
  expect(notices).toContain("Left out: 110 more entries of the list.");
  expect(notices.find((line) => line.startsWith("Wrote "))).toContain("acme/m-9 and 999 more.");
  const { catalog } = loadConfig(file, { secrets: "none" });
  expect(catalog.map(({ upstreamModel }) => upstreamModel)).toEqual(ids);
});
