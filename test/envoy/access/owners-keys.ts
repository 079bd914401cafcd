/** Requests with keys whose own settings, or those of whom they belong to, refuse them. */
import type { KeySettings } from "../../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../../src/shared/settings/organization.ts";
import type { RawResponse } from "../edge/raw-client.ts";
import type { Provocation } from "./error-rows.ts";

export const withKey =
  (key: Partial<KeySettings>, organization: Partial<OrganizationSettings> = {}, body?: string) =>
  async (at: Provocation): Promise<RawResponse> =>
    at.send((await at.createKey(key, organization)).key, body === undefined ? {} : { body });

export async function useKeyOfDisabledUser(at: Provocation): Promise<RawResponse> {
  const { organizationId } = await at.createKey();
  const organization = `/api/organizations/${organizationId}`;
  const user = await at.chat.stack.admin("POST", `${organization}/users`, { name: "Zoë", disabled: true });
  const created = await at.chat.stack.admin("POST", `${organization}/keys`, {
    name: "ci",
    user_id: user["id"],
  });
  return at.send(String(created["key"]));
}

export const useKeyOfCapped =
  (kind: "user" | "group", name: string) =>
  async (at: Provocation): Promise<RawResponse> => {
    const { organizationId } = await at.createKey();
    const organization = `/api/organizations/${organizationId}`;
    const limits = [{ period: "day", kind: "cap", cents: 0 }];
    const owner = await at.chat.stack.admin("POST", `${organization}/${kind}s`, { name, limits });
    const created = await at.chat.stack.admin("POST", `${organization}/keys`, {
      name: "ci",
      [`${kind}_id`]: owner["id"],
    });
    return at.send(String(created["key"]));
  };
