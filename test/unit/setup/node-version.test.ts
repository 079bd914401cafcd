import { describe, expect, it } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { describeOldNode, MINIMUM_NODE } from "../../../src/setup/node-version.js";

describe("describeOldNode", () => {
  it.each([
    { version: "20.19.0", isOld: false },
    { version: "20.20.2", isOld: false },
    { version: "22.0.0", isOld: false },
    { version: "24.1.0", isOld: false },
    { version: "20.18.3", isOld: true },
    { version: "18.20.8", isOld: true },
  ])("judges $version", ({ version, isOld }) => {
    const sentence = describeOldNode(version);
    expect(sentence !== null).toBe(isOld);
    expect(sentence ?? version).toContain(version);
  });

  it("asks for what package.json asks for", () => {
    expect(manifest.engines.node).toBe(`>=${MINIMUM_NODE}`);
  });
});
