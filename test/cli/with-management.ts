import { afterAll, beforeAll } from "vitest";
import { type AdminUnderTest, OPERATOR_TOKEN, startAdmin } from "../admin/admin-fixture.ts";
import { callCli } from "./call-cli.ts";
import type { CliResult } from "./run-cli.ts";

export interface Management {
  /** There from the first test on. */
  readonly admin: AdminUnderTest;
  /** By which commands find the API, with the operator's token when none is given. */
  readonly environment: (token?: string) => Readonly<Record<string, string>>;
  /** The parts are cut at blanks: "org create --quiet". */
  readonly igw: (...parts: string[]) => Promise<CliResult>;
  /** A command that must succeed. */
  readonly ok: (...parts: string[]) => Promise<CliResult>;
}

let made = 0;
/** A name that nothing else has. */
export function uniqueName(): string {
  made += 1;
  return `Org${made}`;
}

/** One management API for all tests of a file, and commands that call it. */
export function withManagement(): Management {
  let admin: AdminUnderTest | null = null;
  beforeAll(async () => {
    admin = await startAdmin();
  });
  afterAll(() => admin?.stop());
  const management: Management = {
    get admin() {
      if (admin === null) throw new Error("the management API is used before it was started");
      return admin;
    },
    environment: (token = OPERATOR_TOKEN) => ({
      IGW_ADMIN_URL: management.admin.url,
      IGW_ADMIN_TOKEN: token,
    }),
    igw: (...parts) => callCli(parts.join(" ").split(" "), { env: management.environment() }),
    ok: async (...parts) => {
      const result = await management.igw(...parts);
      if (result.code !== 0) throw new Error(`${parts.join(" ")}: exit ${result.code}\n${result.stderr}`);
      return result;
    },
  };
  return management;
}
