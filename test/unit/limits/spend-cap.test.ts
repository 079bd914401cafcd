import { describe, expect, it } from "vitest";
import { createCapError } from "../../../src/data-path/limits/errors/spend-cap.ts";

const reached = {
  scope: "key",
  period: "month",
  organizationId: "org_1",
  keyId: "key_1",
  ownerId: null,
  name: "ci",
  capCents: 5000,
  raisedCents: 0,
  spentMicrocents: 5013_999_999n,
  currency: "USD",
  areAmountsHidden: false,
  day: "2026-11-25",
} as const;

const FIELDS = { scope: "key", period: "month", resets_at: "2026-12-01T00:00:00Z", hard_cap_cents: 5000 };
const NOWHERE = { baseUrl: null, contact: null };

describe("createCapError", () => {
  it("names the key's cap, its amount, the month and what to do", () => {
    const error = createCapError(reached, NOWHERE);
    expect(error.code).toBe("hard_cap_reached");
    expect(error.message).toBe(
      'Monthly hard cap of 50.00 USD for API key "ci" reached: 50.13 USD spent in November 2026. Raise the cap on the API keys page, or wait until 2026-12-01T00:00:00Z.',
    );
    expect(error.fields).toEqual({ ...FIELDS, spent_cents: 5013 });
  });

  it("names the organization's, at the turn of the year too", () => {
    const error = createCapError(
      { ...reached, scope: "organization", name: "Acme", day: "2026-12-31" },
      NOWHERE,
    );
    expect(error.code).toBe("org_hard_cap_reached");
    expect(error.message).toBe(
      `Monthly hard cap of 50.00 USD for organization "Acme" reached: 50.13 USD spent in December 2026. Raise it in the organization's inference settings, or wait until 2027-01-01T00:00:00Z.`,
    );
  });

  it.each([
    {
      name: "the key's page and a contact",
      cap: reached,
      dashboard: { baseUrl: "https://dash.example.com", contact: "platform@example.com" },
      says: "Raise the cap on https://dash.example.com/organizations/org_1/keys/key_1#limits or ask platform@example.com, or wait until 2026-12-01T00:00:00Z.",
    },
    {
      name: "the organization's settings",
      cap: { ...reached, scope: "organization" } as const,
      dashboard: { baseUrl: "https://dash.example.com", contact: null },
      says: "Raise the cap on https://dash.example.com/organizations/org_1/settings#limits, or wait until 2026-12-01T00:00:00Z.",
    },
    {
      name: "a contact alone",
      cap: reached,
      dashboard: { baseUrl: null, contact: "platform@example.com" },
      says: "Raise the cap on the API keys page or ask platform@example.com, or wait until 2026-12-01T00:00:00Z.",
    },
  ])("leads to $name where the operator has set it", ({ cap, dashboard, says }) => {
    const { message, fields } = createCapError(cap, dashboard);
    expect(message).toMatch(/^Monthly hard cap of 50\.00 USD for .*: 50\.13 USD spent in November 2026\. /);
    expect(message.slice(message.indexOf("Raise"))).toBe(says);
    expect(fields).toEqual({ ...FIELDS, scope: cap.scope, spent_cents: 5013 });
  });

  it.each([
    {
      period: "day",
      says: 'Daily hard cap of 50.00 USD for user "Zoë" reached: 50.13 USD spent on 2026-11-25. Raise the cap on the Users page, or wait until 2026-11-26T00:00:00Z.',
      resets_at: "2026-11-26T00:00:00Z",
    },
    {
      period: "week",
      says: 'Weekly hard cap of 50.00 USD for user "Zoë" reached: 50.13 USD spent in the week of 2026-11-23. Raise the cap on the Users page, or wait until 2026-11-30T00:00:00Z.',
      resets_at: "2026-11-30T00:00:00Z",
    },
    {
      period: "total",
      says: 'Total hard cap of 50.00 USD for user "Zoë" reached: 50.13 USD spent in total. Raise the cap on the Users page.',
      resets_at: null,
    },
  ] as const)("says of a $period when it ends, if ever", ({ period, says, resets_at }) => {
    const cap = { ...reached, scope: "user", ownerId: "user_1", name: "Zoë", period } as const;
    const error = createCapError(cap, NOWHERE);
    expect(error.code).toBe("user_hard_cap_reached");
    expect(error.message).toBe(says);
    expect(error.fields).toEqual({ ...FIELDS, scope: "user", period, resets_at, spent_cents: 5013 });
  });

  it.each([
    { name: "a cap of 0", cap: { capCents: 0, spentMicrocents: 0n } },
    {
      name: "a strict cap below the request's worst case",
      cap: {
        capCents: 10,
        spentMicrocents: 0n,
        held: { heldMicrocents: 0n, worstCaseMicrocents: 11_000_000n },
      },
    },
  ])("does not advise to wait where waiting cannot help: $name", ({ cap }) => {
    const { message } = createCapError({ ...reached, ...cap }, NOWHERE);
    expect(message).toMatch(/ Raise the cap on the API keys page\.$/);
    // A hidden amount cannot be read from the advice.
    const hidden = { ...reached, ...cap, scope: "organization", areAmountsHidden: true } as const;
    expect(createCapError(hidden, NOWHERE).message).toContain("or wait until");
  });

  it("leads to a group's page, and tells what a raise has added", () => {
    const cap = { ...reached, scope: "group", ownerId: "group_1", name: "Team", raisedCents: 1000 } as const;
    const error = createCapError(cap, { baseUrl: "https://dash.example.com", contact: null });
    expect(error.code).toBe("group_hard_cap_reached");
    expect(error.message).toContain(
      "Raise the cap on https://dash.example.com/organizations/org_1/groups/group_1#limits,",
    );
    expect(error.fields).toMatchObject({ scope: "group", raised_cents: 1000 });
  });

  it("says with strict caps that only requests in flight stand in the way", () => {
    const held = { heldMicrocents: 4000_000_000n, worstCaseMicrocents: 2000_000_000n };
    const error = createCapError({ ...reached, spentMicrocents: 0n, held }, NOWHERE);
    expect(error.message).toContain("Only requests in flight block this request");
    expect(error.fields).toEqual({ ...FIELDS, spent_cents: 0, held_cents: 4000 });
  });

  it("says with strict caps how much of the answer would fit, in the words that clients look for", () => {
    const held = { heldMicrocents: 0n, worstCaseMicrocents: 6000_000_000n };
    const affordable = { requestedTokens: 32_000, affordableTokens: 27_342 };
    const cap = { ...reached, spentMicrocents: 0n, held, affordable };
    const error = createCapError(cap, NOWHERE);
    expect(error.message).toContain(
      "this request may cost up to 60.00 USD. You requested up to 32000 tokens, but can only afford 27342. Lower the output limit, or raise the cap",
    );
    expect(error.fields).toMatchObject({ affordable_max_tokens: 27_342 });
    const hidden = { ...cap, scope: "organization", areAmountsHidden: true } as const;
    expect(createCapError(hidden, NOWHERE).fields).not.toHaveProperty("affordable_max_tokens");
    expect(createCapError(hidden, NOWHERE).message).not.toContain("afford");
    // What is told of the key's own cap stays.
    const own = createCapError({ ...cap, areAmountsHidden: true }, NOWHERE);
    expect(own.fields).toMatchObject({ affordable_max_tokens: 27_342 });
  });

  it("does not say so of a request that would not fit alone", () => {
    const held = { heldMicrocents: 1n, worstCaseMicrocents: 6000_000_000n };
    expect(createCapError({ ...reached, spentMicrocents: 0n, held }, NOWHERE).message).not.toContain(
      "Only the requests",
    );
  });

  it("tells of what is not the key's no figures, where the organization hides them", () => {
    const cap = {
      ...reached,
      scope: "group",
      ownerId: "group_1",
      name: "Team",
      areAmountsHidden: true,
    } as const;
    const raised = { ...cap, raisedCents: 1000 };
    const error = createCapError(raised, NOWHERE);
    expect(error.message).toBe(
      'Monthly hard cap for group "Team" reached in November 2026. Raise the cap on the Groups page, or wait until 2026-12-01T00:00:00Z.',
    );
    const { scope, period, resets_at } = { ...FIELDS, scope: "group" };
    expect(error.fields).toEqual({ scope, period, resets_at });
    const held = { heldMicrocents: 4000_000_000n, worstCaseMicrocents: 2000_000_000n };
    const strict = createCapError({ ...cap, spentMicrocents: 0n, held }, NOWHERE);
    expect(strict.message).toBe(
      'Monthly hard cap for group "Team" would be exceeded by this request and the ones in flight. Raise the cap on the Groups page, or wait until 2026-12-01T00:00:00Z.',
    );
    expect(strict.fields).toEqual({ scope, period, resets_at });
    expect(createCapError({ ...reached, areAmountsHidden: true }, NOWHERE).fields).toMatchObject({
      hard_cap_cents: 5000,
    });
  });
});
