import { describe, expect, it } from "vitest";
import {
  challengeOf,
  createPart,
  displayChallenge,
  formatProgramPage,
  formatProgramToken,
  formatReturn,
  hashProgram,
  hashProgramToken,
  isProgramToken,
  parseProgramRequest,
} from "../../../src/shared/contract/program-sign-in.ts";

const PART = "x".repeat(43);
const parse = (address: string) => parseProgramRequest(new URL(address, "http://localhost").searchParams);

describe("a program's sign-in", () => {
  it("names in its address the verifier's SHA-256 as RFC 7636 has it, and nothing that opens anything", () => {
    // RFC 7636, appendix B.
    const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const challenge = challengeOf(verifier);
    expect(challenge).toBe("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    const asked = { challenge, port: 49_152, state: createPart() };
    expect(parse(formatProgramPage(asked))).toEqual(asked);
    expect(formatProgramPage(asked)).not.toContain(verifier);
    expect(displayChallenge(challenge)).toMatch(/^[0-9A-F]{4}-[0-9A-F]{4}$/);
  });

  it("comes back to loopback alone, with the code and the program's state", () => {
    const back = new URL(formatReturn({ port: 1024, state: PART }, "code"));
    expect([back.origin, back.pathname]).toEqual(["http://127.0.0.1:1024", "/"]);
    expect(Object.fromEntries(back.searchParams)).toEqual({ code: "code", state: PART });
  });

  it.each(["", "0", "80", "1023", "65536", "1e4", "49152@evil", "49152/x", "-1", "049152", " 49152"])(
    "goes to no port %j",
    (port) => {
      expect(parse(`/?${new URLSearchParams({ challenge: PART, port, state: PART }).toString()}`)).toBeNull();
    },
  );

  it.each(["1024", "1030", "1100", "2000", "9999", "10000", "59999", "64000", "65499", "65529", "65535"])(
    "goes to port %s",
    (port) => {
      expect(parse(`/?challenge=${PART}&port=${port}&state=${PART}`)?.port).toBe(Number(port));
    },
  );

  it.each([
    ["a challenge that is too short", { challenge: "x", state: PART }],
    ["a challenge with other characters", { challenge: "=".repeat(43), state: PART }],
    ["no state", { challenge: PART }],
    ["a state with a line break", { challenge: PART, state: `${PART}\n` }],
  ])("is none with %s", (_name, parameters) => {
    expect(parse(`/?${new URLSearchParams({ port: "49152", ...parameters }).toString()}`)).toBeNull();
  });

  it("has a token of both parts, of which neither is enough", () => {
    const [verifier, code] = [createPart(), createPart()];
    const token = formatProgramToken(verifier, code);
    expect(isProgramToken(token)).toBe(true);
    expect(hashProgramToken(token)).toBe(hashProgram(challengeOf(verifier), code));
    expect(hashProgramToken(formatProgramToken(createPart(), code))).not.toBe(hashProgramToken(token));
    expect(hashProgramToken(formatProgramToken(verifier, createPart()))).not.toBe(hashProgramToken(token));
    for (const other of [verifier, code, `${token}x`, token.replace(".", ""), "igw_org_x"]) {
      expect([isProgramToken(other), hashProgramToken(other)]).toEqual([false, null]);
    }
  });
});
