import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSocketFolder } from "../../src/operation/launcher/socket-folder.ts";
import { createTestFolder } from "./support/stand-in-stack.ts";

describe("openSocketFolder", () => {
  it("takes the folder that is asked for and lets only its owner in", async () => {
    const wanted = join(createTestFolder(), "run");
    const folder = await openSocketFolder(wanted);
    expect(folder).toMatchObject({ path: wanted, isTemporary: false });
    expect(statSync(wanted).mode & 0o777).toBe(0o700);
    folder.remove();
    expect(existsSync(wanted)).toBe(true);
  });

  it("takes a temporary folder where a socket's path would have more than 107 bytes, and removes it", async () => {
    const folder = await openSocketFolder(join(createTestFolder(), "deep".repeat(25)));
    expect(folder.isTemporary).toBe(true);
    expect(Buffer.byteLength(join(folder.path, "envoy-admin.sock"))).toBeLessThanOrEqual(107);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    folder.remove();
    expect(existsSync(folder.path)).toBe(false);
  });
});
