import { describe, expect, it } from "vitest";
import { describeUpdate, recordChange } from "../../../src/management/admin/api/record-change.ts";
import type { ApiServices } from "../../../src/management/admin/api/route.ts";
import type { AuditInput } from "../../../src/shared/stored/audit.ts";

const call = { principal: { type: "operator" }, requestId: "req_1" } as const;
const change = {
  action: "key.updated",
  target: { type: "key", id: "key_1", name: "ci" },
} as const;

function createServices(add: (entry: AuditInput) => Promise<void>) {
  const lines: { fields: object; message: string }[] = [];
  const error = (fields: object, message: string) => {
    lines.push({ fields, message });
  };
  const services = {
    store: { addAuditEntry: (_id: string, entry: AuditInput) => add(entry) },
    logger: { info: error, warn: error, error },
  } as unknown as ApiServices;
  return { services, lines };
}

describe("describeUpdate", () => {
  it("keeps only the fields that differ", () => {
    expect(describeUpdate({ ...change, before: { a: 1, b: [2] }, after: { a: 1, b: [3] } }, call)).toEqual({
      actor: { type: "operator", id: null, name: null, role: "operator" },
      action: "key.updated",
      target: change.target,
      before: { b: [2] },
      after: { b: [3] },
      requestId: "req_1",
    });
  });

  it("is null of an update that changes nothing", () => {
    expect(describeUpdate({ ...change, before: { a: 1 }, after: { a: 1 } }, call)).toBeNull();
  });
});

describe("recordChange", () => {
  it("puts the entry into the log when the audit log cannot be written, and lets the change stand", async () => {
    const { services, lines } = createServices(() => Promise.reject(new Error("gone")));
    await recordChange("org_1", { ...change, before: null, after: { a: 1 } }, call, services);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.fields).toMatchObject({ organization_id: "org_1", entry: { after: { a: 1 } } });
  });
});
