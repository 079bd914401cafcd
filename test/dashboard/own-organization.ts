import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import type { Stack } from "../support/stack.ts";
import { signIn } from "./browser.ts";

export interface OwnOrganization {
  /** Signed in by an administrator's token of the organization. */
  readonly page: Page;
  /** Path of the organization in the management API. */
  readonly api: string;
  /** URL of its pages. */
  readonly base: string;
}

/** A new organization, and a page on which its administrator is signed in. */
export async function openOwnOrganization(stack: Stack, open: () => Promise<Page>): Promise<OwnOrganization> {
  const name = `Acme ${randomUUID()}`;
  const { id } = await stack.admin("POST", "/api/organizations", { name, currency: "USD" });
  const api = `/api/organizations/${String(id)}`;
  const { token } = await stack.admin("POST", `${api}/tokens`, { name: "anna", role: "admin" });
  const page = await open();
  await signIn(page, stack, String(token));
  return { page, api, base: `${stack.adminUrl}/organizations/${String(id)}` };
}
