import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chooseServerHeaders,
  type PinnedRequest,
} from "../../../src/data-path/exchange/upstream/server-headers.ts";
import { ADMISSION, type AdmissionChanges, changeAdmission } from "../settlement/settlement-fixture.ts";

const PINNED = { id: "acme/a", pinsSessions: true, endpointPicker: null };
const PICKED = { id: "acme/a", pinsSessions: false };

interface Given {
  readonly names?: readonly string[];
  readonly affinity?: string;
  readonly session?: string;
  readonly body?: object;
}

function requestOf({ names = [], affinity, session, body = {} }: Given): PinnedRequest {
  const admission = changeAdmission(ADMISSION, { identity: { session } });
  return { admission, headers: { names, affinity }, body: { ...body } };
}

function pin(given: Given, model = PINNED) {
  const { headers, pinnedBy } = chooseServerHeaders(model, requestOf(given));
  return { value: headers[0]?.[1], pinnedBy };
}

const user = (content: unknown) => ({ role: "user", content });
const ALL = {
  names: ["x-session-id", "x-claude-code-session-id", "session-id", "x-session-affinity"],
  affinity: "affine",
  session: "run",
  body: { session_id: "body", prompt_cache_key: "cache", messages: [user("hi")] },
};
const withoutNames = (count: number) => ({ ...ALL, names: ALL.names.slice(count) });

describe("the session that pins a request", () => {
  const { session: _session, ...unnamed } = ALL;
  const { session_id: _id, ...body } = ALL.body;
  const rows: { readonly by: string; readonly given: Given; readonly same: Given }[] = [
    { by: "x-session-id", given: ALL, same: { session: "run" } },
    { by: "session_id", given: withoutNames(1), same: { session: "body" } },
    { by: "x-claude-code-session-id", given: { ...withoutNames(1), body }, same: { session: "run" } },
    { by: "session-id", given: { ...withoutNames(2), body }, same: { session: "run" } },
    { by: "x-session-affinity", given: { ...unnamed, names: [], body }, same: { session: "affine" } },
    { by: "prompt_cache_key", given: { body }, same: { session: "cache" } },
    { by: "prompt", given: { body: { messages: [user("hi")] } }, same: { session: "hi" } },
  ];

  it.each(rows)("is named by $by before what follows in the list", ({ by, given, same }) => {
    expect(pin(given).pinnedBy).toBe(by);
    expect(pin(given).value).toBe(pin(same).value);
  });

  it("is missing if nothing names it", () => {
    const none = { headers: [], pinnedBy: null };
    const bodies = [
      {},
      { input: ["text", "text"] },
      { messages: [user([{ type: "image_url" }])] },
      { messages: 1 },
    ];
    for (const body of bodies) expect(chooseServerHeaders(PINNED, requestOf({ body }))).toEqual(none);
  });

  it("ignores names that are no texts", () => {
    expect(pin({ affinity: "", body: { prompt_cache_key: 7, messages: [user("hi")] } }).pinnedBy).toBe(
      "prompt",
    );
  });
});

describe("the value that pins a request", () => {
  it("is 16 hexadecimal digits in Envoy's own header", () => {
    const { headers } = chooseServerHeaders(PINNED, requestOf({ session: "run" }));
    expect(headers).toEqual([["x-igw-session", expect.stringMatching(/^[0-9a-f]{16}$/)]]);
  });

  it("differs by organization, key, model and session", () => {
    const request = requestOf({ session: "run" });
    const named = changeAdmission(ADMISSION, { identity: { session: "run" } });
    const of = (model: object, admission: AdmissionChanges) => {
      const changed = { ...request, admission: changeAdmission(named, admission) };
      return chooseServerHeaders({ ...PINNED, ...model }, changed).headers[0]?.[1];
    };
    const values = [
      of({}, {}),
      of({ id: "acme/b" }, {}),
      of({}, { caller: { organizationId: "org_2" } }),
      of({}, { caller: { keyId: "key_2" } }),
      of({}, { identity: { session: "run 2" } }),
    ];
    expect(new Set(values).size).toBe(values.length);
  });
});

describe("the prompt that pins a request", () => {
  const system = "You are an agent.";
  const later = [{ role: "assistant", content: "yes" }, user("more")];

  it.each([
    { protocol: "chat", first: { messages: [{ role: "system", content: system }, user("hi")] } },
    { protocol: "messages", first: { system: [{ type: "text", text: system }], messages: [user("hi")] } },
    {
      protocol: "responses",
      first: { instructions: system, input: [user([{ type: "input_text", text: "hi" }])] },
    },
    { protocol: "responses with a text", first: { instructions: system, input: "hi" } },
    { protocol: "completions", first: { prompt: `${system}hi` } },
  ])("is the system prompt and the first user message in $protocol", ({ first }) => {
    expect(pin({ body: first })).toEqual({ ...pin({ session: `${system}hi` }), pinnedBy: "prompt" });
  });

  it("is the same for every turn of a conversation, and differs by its first message", () => {
    const first = pin({ body: { messages: [user("hi")] } }).value;
    expect(pin({ body: { messages: [user("hi"), ...later] } }).value).toBe(first);
    expect(pin({ body: { messages: [user("ho"), ...later] } }).value).not.toBe(first);
  });

  it("has at most the first 2,048 characters of each", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const start = "x".repeat(2_048);
        const of = (text: string) =>
          pin({ body: { system: start + text, messages: [user(start + text)] } }).value;
        expect(of(one)).toBe(of(other));
      }),
    );
  });

  it("reads any body", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("system", "messages", "input", "prompt"), fc.jsonValue()),
        (body) => {
          expect(() => pin({ body })).not.toThrow();
        },
      ),
    );
  });
});

describe("headers for an endpoint picker", () => {
  const choose = (objective: string | null) =>
    chooseServerHeaders({ ...PICKED, endpointPicker: { objective } }, requestOf({ session: "run" }));

  it("name the organization, and the objective of the configuration", () => {
    const fairness = ["x-gateway-fairness-id", "org_1"];
    expect(choose(null)).toEqual({ headers: [fairness], pinnedBy: null });
    expect(choose("batch")).toEqual({
      headers: [fairness, ["x-gateway-inference-objective", "batch"]],
      pinnedBy: null,
    });
  });
});

it("does nothing for a model with one server", () => {
  const unread = new Proxy(
    {},
    {
      get() {
        throw new Error("the body was read");
      },
    },
  );
  const request = { ...requestOf({ session: "run" }), body: unread };
  expect(chooseServerHeaders({ ...PICKED, endpointPicker: null }, request).headers).toEqual([]);
});
