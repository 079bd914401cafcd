import { describe, expect, it } from "vitest";
import { AdmissionsUnderWay } from "../../../src/exchange/admissions-under-way.ts";
import { type Decision, NOBODY } from "../../../src/exchange/decision.ts";

const REFUSED: Decision = { kind: "refused", reply: { status: 429, headers: [], body: "" }, log: NOBODY };
const KEY = "key_1";

function open({ isSameWorker = true } = {}) {
  const clock = { nowMs: 0 };
  const underWay = new AdmissionsUnderWay({
    isSameWorker: () => isSameWorker,
    clock: { monotonicMs: () => clock.nowMs },
  });
  return { underWay, clock };
}

const never = new Promise<Decision>(() => undefined);

describe("an admission under way", () => {
  it("is waited for by ext_authz until a request of the key was admitted, and again once one was refused", () => {
    const { underWay } = open();
    const seen = [underWay.mayPass(KEY, 100)];
    underWay.learn(KEY, 9);
    seen.push(underWay.mayPass(KEY, 100), underWay.mayPass("key_2", 100));
    underWay.learn(KEY, 0);
    seen.push(underWay.mayPass(KEY, 100));
    expect(seen).toEqual([false, true, false, false]);
  });

  it.each([
    { name: "a body of unknown length, or a request without ext_proc", bodyBytes: null },
    { name: "a body that Envoy would buffer for it", bodyBytes: 128 * 1024 + 1 },
    { name: "a length that is none", bodyBytes: Number.NaN },
  ])("is waited for by ext_authz with $name", ({ bodyBytes }) => {
    const { underWay } = open();
    underWay.learn(KEY, 9);
    expect(underWay.mayPass(KEY, bodyBytes)).toBe(false);
    expect(underWay.mayPass(KEY, 128 * 1024)).toBe(true);
  });

  it("is waited for by ext_authz where ext_proc may call another worker", () => {
    const { underWay } = open({ isSameWorker: false });
    underWay.learn(KEY, 9);
    expect(underWay.mayPass(KEY, 100)).toBe(false);
  });

  it("passes no more requests than the key's bucket has left", () => {
    const { underWay } = open();
    underWay.learn(KEY, 2);
    for (const requestId of ["req_1", "req_2"]) {
      expect(underWay.mayPass(KEY, 100)).toBe(true);
      underWay.pass(requestId, never);
    }
    expect(underWay.mayPass(KEY, 100)).toBe(false);
    underWay.take("req_1");
    expect(underWay.mayPass(KEY, 100)).toBe(true);
  });

  it("is given to the first who comes for it, before its decision and after it", async () => {
    const { underWay } = open();
    underWay.pass("req_1", Promise.resolve(REFUSED));
    const awaited = underWay.take("req_1");
    expect(awaited?.decision).toBeNull();
    expect(await awaited?.decided).toBe(REFUSED);
    expect(awaited?.decision).toBe(REFUSED);
    expect(underWay.take("req_1")).toBeNull();
  });

  it("is forgotten when nobody has come for it in a minute and a half", () => {
    const { underWay, clock } = open();
    underWay.learn(KEY, 2);
    for (const requestId of ["req_1", "req_2"]) underWay.pass(requestId, never);
    clock.nowMs = 90_000;
    expect(underWay.mayPass(KEY, 100)).toBe(false);
    clock.nowMs = 90_001;
    expect(underWay.mayPass(KEY, 100)).toBe(true);
    expect(underWay.take("req_1")).toBeNull();
  });

  it("never takes more than so much memory: ext_authz waits for what is beyond it", () => {
    const { underWay } = open();
    underWay.learn(KEY, 1_000_000);
    let passed = 0;
    for (; passed < 20_000 && underWay.mayPass(KEY, 100); passed += 1) underWay.pass(`req_${passed}`, never);
    expect(passed).toBe(10_000);
  });
});
