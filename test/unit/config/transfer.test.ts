import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { receiveConfig, transferConfig } from "../../../src/shared/config/transfer.ts";

/** The example with every section. */
const COMPLETE = readFileSync(
  new URL("../../../deploy/examples/every-field/gateway.yaml", import.meta.url),
  "utf8",
);

describe("transferConfig", () => {
  const config = parseConfig(COMPLETE, { baseDir: "/etc/gateway", secrets: "none" });
  const transferred = JSON.stringify(transferConfig(config));

  it("carries every field to another process, frozen", () => {
    const received = receiveConfig(JSON.parse(transferred));
    expect(received).toEqual(config);
    expect(Object.isFrozen(received.catalog[0]?.prices)).toBe(true);
  });

  it("carries where secrets are kept, so that they are read where they are used", () => {
    process.env["IGW_OPERATOR_TOKEN"] = "s3cret";
    try {
      expect(receiveConfig(JSON.parse(transferred)).admin.operatorToken?.reveal()).toBe("s3cret");
      expect(transferred).not.toContain("s3cret");
    } finally {
      delete process.env["IGW_OPERATOR_TOKEN"];
    }
  });
});
