/** Every finding of `inference-gateway doctor`, provoked by the real thing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FINDINGS, type FindingCode } from "../../src/operation/doctor/finding.ts";
import { FOLDER_FAULTS } from "./doctor/folder-faults.ts";
import { NETWORK_FAULTS } from "./doctor/network-faults.ts";
import { PROCESS_FAULTS, stopProcesses } from "./doctor/process-faults.ts";
import { createDoctorWorld, type DoctorWorld, type Provocation, SECRET } from "./doctor/provocation.ts";
import { REDIS_FAULTS } from "./doctor/redis-faults.ts";
import { UPSTREAM_FAULTS } from "./doctor/upstream-faults.ts";

/** The type wants an entry for each code: a finding that nobody provokes does not compile. */
const PROVOCATIONS: Readonly<Record<FindingCode, readonly Provocation[]>> = {
  ...FOLDER_FAULTS,
  ...REDIS_FAULTS,
  ...NETWORK_FAULTS,
  ...PROCESS_FAULTS,
  ...UPSTREAM_FAULTS,
};
const CASES = Object.entries(PROVOCATIONS).flatMap(([code, ways]) =>
  ways.map((way) => ({ code: code as FindingCode, ...way })),
);

let world: DoctorWorld;
beforeAll(async () => {
  world = await createDoctorWorld();
});
afterAll(async () => {
  await stopProcesses();
  await world.close();
}, 90_000);

describe("inference-gateway doctor", () => {
  it("has no finding that is not provoked here", () => {
    const unprovoked = Object.keys(FINDINGS).filter(
      (code) => (PROVOCATIONS[code as FindingCode] ?? []).length === 0,
    );
    expect(unprovoked).toEqual([]);
    expect(Object.keys(PROVOCATIONS).sort()).toEqual(Object.keys(FINDINGS).sort());
  });

  it.for(CASES)("finds $code when $name", async ({ code, provoke, says, missing = null }, context) => {
    if (missing !== null) context.skip(missing);
    const { findings } = await provoke(world);
    const texts = findings.filter((finding) => finding.code === code);
    expect(texts.map(({ message }) => message).join("\n")).toMatch(says);
    expect(texts.map(({ level }) => level)).toContain(FINDINGS[code].level);
    const untold = findings.filter(({ code: found, fix }) => found !== null && (fix ?? "").length < 20);
    expect(untold).toEqual([]);
    expect(JSON.stringify(findings)).not.toContain(SECRET);
  });
});
