/** What a suite is run with twice: as a gateway that takes API keys alone, and as one that takes tokens beside them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AUDIENCE, createSigningKey } from "./token-issuer.ts";

const ISSUER = "https://login.example.com";
/** Not that of any test: whoever got in by a token would be nobody. */
const ORGANIZATION = "org_00000000-0000-7000-8000-000000000000";

/** For `describe.each`: a name, and whether tokens are taken. */
export const WITH_AND_WITHOUT_TOKENS = [
  ["where API keys alone are taken", false],
  ["where tokens are taken, too", true],
] as const;

/** `jwt` of gateway.yaml with one provider, whose keys are in a file of this process. */
export async function createTokenConfig(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), "igw-jwks-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "keys.json");
  const { publicJwk } = await createSigningKey("corp-1");
  writeFileSync(file, JSON.stringify({ keys: [publicJwk] }));
  const provider = { name: "corp", issuer: ISSUER, audiences: [AUDIENCE], jwks: { file } };
  return { providers: [{ ...provider, organization: ORGANIZATION }] };
}

/** What `overrides` of a stack has. */
export async function tokenOverrides(takesTokens: boolean): Promise<object> {
  return takesTokens ? { jwt: await createTokenConfig() } : {};
}
