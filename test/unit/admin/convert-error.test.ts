import { describe, expect, it } from "vitest";
import { ZodError } from "zod";
import { AdminError } from "../../../src/management/admin/admin-error.ts";
import { convertError } from "../../../src/management/admin/convert-error.ts";

const reply = (message: string) => Object.assign(new Error(message), { name: "ReplyError" });

describe("convertError", () => {
  it.each([
    { name: "a refused connection", thrown: new Error("connect ECONNREFUSED"), code: "gateway_unavailable" },
    {
      name: "a command without an answer",
      thrown: new Error("Command timed out"),
      code: "gateway_unavailable",
    },
    {
      name: "a Redis that is loading",
      thrown: reply("LOADING Redis is loading"),
      code: "gateway_unavailable",
    },
    { name: "a former master", thrown: reply("READONLY You can't write"), code: "gateway_unavailable" },
    { name: "a full Redis", thrown: reply("OOM command not allowed"), code: "gateway_unavailable" },
    { name: "a wrong type in Redis", thrown: reply("WRONGTYPE Operation"), code: "internal_error" },
    { name: "a defect", thrown: new TypeError("x is not a function"), code: "internal_error" },
    { name: "a record of another form", thrown: new ZodError([]), code: "internal_error" },
    { name: "something that is no error", thrown: "text", code: "internal_error" },
    { name: "an error for the caller", thrown: new AdminError("key_not_found"), code: "key_not_found" },
  ])("makes $code of $name", ({ thrown, code }) => {
    const error = convertError(thrown, false);
    expect(error.code).toBe(code);
    expect(error.toBody("req_1").error.message).not.toContain("ECONNREFUSED");
  });

  it("says of a write that its outcome is not known", () => {
    expect(convertError(new Error("Command timed out"), true).message).toContain(
      "outcome of this change is unknown",
    );
  });

  it("tells when to try again", () => {
    expect(convertError(new Error("gone"), false).headers).toMatchObject({ "retry-after": "1" });
  });
});
