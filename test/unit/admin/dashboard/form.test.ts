import { describe, expect, it } from "vitest";
import { isGroup } from "../../../../src/shared/settings/group.ts";
import { KEY_SETTINGS } from "../../../../src/shared/settings/key.ts";
import { flag } from "../../../../src/shared/settings/kinds.ts";
import { ORGANIZATION_SETTINGS } from "../../../../src/shared/settings/organization.ts";
import type { Settings } from "../../../../src/shared/settings/setting.ts";
import { aliasOf, hasOwnCalls } from "../../../../src/shared/settings/table.ts";
import { USER_GROUP_SETTINGS } from "../../../../src/shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../../../src/shared/settings/user.ts";
import { AdminError } from "../../../../src/management/admin/admin-error.ts";
import {
  type FieldKind,
  FormValues,
  pickChanges,
  readBody,
  splitProblems,
} from "../../../../src/management/admin/dashboard/form.ts";
import {
  GROUP_FORM,
  KEY_FORM,
  listFormSettings,
  USER_FORM,
} from "../../../../src/management/admin/dashboard/setting-form.ts";

describe("readBody", () => {
  it.each<{ name: string; kind: FieldKind; form: string; value: unknown }>([
    { name: "an amount in cents", kind: "amount", form: "f=1234.50", value: 123_450 },
    { name: "no amount as null", kind: "amount", form: "f=", value: null },
    { name: "a whole number", kind: "whole", form: "f=6000", value: 6000 },
    { name: "a number with a comma for the schema as it is", kind: "rate", form: "f=1%2C5", value: "1,5" },
    { name: "no number for the schema as it is", kind: "whole", form: "f=many", value: "many" },
    { name: "a number that is left to the API not at all", kind: "default", form: "f=", value: undefined },
    { name: "a checkbox", kind: "flag", form: "f=yes", value: true },
    { name: "a checkbox that is not ticked", kind: "flag", form: "", value: false },
    { name: "a time as UTC", kind: "time", form: "f=2026-12-31T23%3A59", value: "2026-12-31T23:59:00Z" },
    { name: "lines", kind: "emails", form: "f=a%40b.c%0D%0Ad%40e.f", value: ["a@b.c", "d@e.f"] },
    {
      name: "pairs",
      kind: "names",
      form: "f=a+%3D+b%2Fc%0D%0A%0D%0Ad%3De%3Df%0D%0Ag",
      value: { a: "b/c", d: "e=f", g: "" },
    },
    { name: "a choice", kind: "choice", form: "f=last", value: "last" },
    { name: "a choice that the form does not ask not at all", kind: "choice", form: "", value: undefined },
    { name: "choices", kind: "models", form: "f=a&f=b", value: ["a", "b"] },
    { name: "all choices as null", kind: "models", form: "f=a&f.all=yes", value: null },
  ])("reads $name", ({ kind, form, value }) => {
    expect(readBody(new FormValues(form), { f: kind })["f"]).toEqual(value);
  });

  it("makes members of what has a dot", () => {
    expect(readBody(new FormValues("a.b=1&a.c=2"), { "a.b": "text", "a.c": "whole" })).toEqual({
      a: { b: "1", c: 2 },
    });
  });

  it.each(["ten", "1.234", "-1", "10,50", "99,90", "1,000", "1,000.00", "12.5"])(
    "refuses the amount %s",
    (amount) => {
      expect(() => readBody(new FormValues(`f=${amount}`), { f: "amount" })).toThrow(AdminError);
    },
  );
});

describe("pickChanges", () => {
  it("sends only what differs, inside of objects too", () => {
    const current = { name: "a", cap: 5, inner: { x: 1, y: [1] } };
    expect(pickChanges({ name: "b", cap: 5, inner: { x: 1, y: [2] } }, current)).toEqual({
      name: "b",
      inner: { y: [2] },
    });
  });
});

describe("splitProblems", () => {
  it("has amounts as a form has them, where the API counts cents", () => {
    const message =
      "`limits.0.cents`: expected a whole number of cents from 0 to 9000000000, found 9999999999900";
    const [[, text] = []] = splitProblems(new AdminError("invalid_parameter", { message }));
    expect(text).toBe("expected an amount from 0.00 to 90000000.00, found 99999999999.00");
  });

  it("gives each field its part of the message", () => {
    const message = "`a`: expected x; `b.0`: there is none; did you mean `c`?; `d`: required, but missing";
    expect([...splitProblems(new AdminError("invalid_parameter", { message }))]).toEqual([
      ["a", "expected x"],
      ["b.0", "there is none; did you mean `c`?"],
      ["d", "required, but missing"],
    ]);
  });

  it("keeps a message that names no field whole, at the field that the error names", () => {
    const error = new AdminError("currency_locked", { param: "currency" });
    expect([...splitProblems(error)]).toEqual([["currency", error.message]]);
  });
});

describe("a form of settings", () => {
  const madeUp = { apiName: "made_up", kind: flag(), default: false, description: "", label: "" };

  const reasonsOf = (table: Settings, prefix = ""): [path: string, reason: string | undefined][] =>
    Object.values(table).flatMap((row) => {
      const path = `${prefix}${row.apiName}`;
      if (isGroup(row.kind)) return reasonsOf(row.kind.members, `${path}.`);
      const reason = aliasOf(row) === null ? row.ownControls : "a row of `limits`";
      return [[path, hasOwnCalls(row) ? "calls of its own" : reason]];
    });

  const MONTH = { hard_cap_cents: "a row of `limits`", budget_cents: "a row of `limits`" };
  const RAISES = { raises: "calls of its own" };
  const DISABLED = { disabled: "`disable` and `enable`" };
  it.each([
    { of: "keys", table: KEY_SETTINGS, form: KEY_FORM, left: { ...MONTH, ...RAISES, ...DISABLED } },
    { of: "users", table: USER_SETTINGS, form: USER_FORM, left: { ...DISABLED, ...RAISES } },
    { of: "groups", table: USER_GROUP_SETTINGS, form: GROUP_FORM, left: RAISES },
    {
      of: "organizations",
      table: ORGANIZATION_SETTINGS,
      form: listFormSettings(ORGANIZATION_SETTINGS),
      left: {
        ...MONTH,
        ...RAISES,
        "notifications.webhooks": "`webhook …` and their pages",
        "key_defaults.hard_cap_cents": MONTH.hard_cap_cents,
        "key_defaults.budget_cents": MONTH.budget_cents,
      },
    },
  ])("has every setting of $of, flags too, or the table says what has it instead", (one) => {
    const shown = one.form.map(({ path }) => path);
    const left = reasonsOf(one.table).filter(([path]) => !shown.includes(path));
    expect(Object.fromEntries(left)).toStrictEqual(one.left);
    expect(listFormSettings({ ...one.table, madeUp }).at(-1)?.path).toBe("made_up");
  });
});
