import { describe, expect, it } from "vitest";
import { hashKey } from "../../../src/data-path/auth/key-format.ts";
import { KeyDirectory } from "../../../src/data-path/auth/key-directory.ts";
import {
  findCaller,
  dropCaller,
  requireUser,
} from "../../../src/data-path/exchange/admission/find-caller.ts";
import { ADMITTED, KEY } from "./admit-request-fixture.ts";

const USER_CALLER = {
  organizationId: "org_1",
  keyId: "key_2",
  presentedHash: "jwt:key_2",
  userId: "user_1",
  groupId: null,
};

function open(lookUp = () => Promise.resolve<{ organizationId: string; keyId: string } | null>(null)) {
  const forgotten: object[] = [];
  const directory = new KeyDirectory({ clock: { nowMs: () => 0, monotonicMs: () => 0 }, lookUp });
  const tokenCallers = {
    issuers: new Map([["corp", { issuer: "https://login.example", audiences: ["gateway"] }]]),
    find: () => Promise.resolve(USER_CALLER),
    remove: (caller: object) => void forgotten.push(caller),
  };
  return { directory, tokenCallers, forgotten, dashboard: { baseUrl: null, contact: null } };
}

describe("findCaller", () => {
  it("finds a key's record, and refuses what is nobody's", async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    await expect(findCaller(open(), { headers }, "req_1")).rejects.toMatchObject({ code: "invalid_api_key" });
    const known = open(() => Promise.resolve({ organizationId: "org_1", keyId: "key_1" }));
    expect(await findCaller(known, { headers }, "req_1")).toMatchObject({ presentedHash: hashKey(KEY) });
  });

  it("says that Redis is unreachable where it is", async () => {
    const away = open(() => Promise.reject(new Error("away")));
    const asked = findCaller(away, { headers: { authorization: `Bearer ${KEY}` } }, "req_1");
    await expect(asked).rejects.toMatchObject({ code: "gateway_unavailable" });
  });

  it("refuses what looks like a token and was not verified", async () => {
    const asked = findCaller(
      open(),
      { headers: { authorization: "Bearer eyJhbGciOiJub25lIn0.e30." } },
      "req_1",
    );
    await expect(asked).rejects.toMatchObject({ code: "invalid_api_key" });
  });

  it("forgets a token's caller whose user is there no more", () => {
    const services = open();
    const gone = { ...ADMITTED, user: null };
    expect(() => requireUser(services, USER_CALLER, gone)).toThrow(/was just deleted/);
    expect(services.forgotten).toEqual([USER_CALLER]);
    const user = { id: "user_1", name: "Zoë" };
    expect(() => requireUser(services, USER_CALLER, { ...ADMITTED, user })).not.toThrow();
    dropCaller(services, { ...USER_CALLER, userId: null });
    expect(services.forgotten).toHaveLength(1);
  });
});
