import { describe, expect, it } from "vitest";
import { cookieOf, createPageClient } from "../support/page-client.ts";
import { createOrganization, createToken, OPERATOR_TOKEN, startAdmin } from "./admin-fixture.ts";

describe("the operator's contact", () => {
  it.each([
    { contact: "models@example.com", link: 'href="mailto:models@example.com"' },
    { contact: "https://example.com/help", link: 'href="https://example.com/help"' },
  ])("is named to customers on every page: $contact", async ({ contact, link }) => {
    const admin = await startAdmin({ contact });
    try {
      const organization = await createOrganization(admin);
      const pages = createPageClient(admin.url);
      const read = async (token: string) => {
        const cookie = cookieOf(await pages.signIn(token));
        return (await pages.get(`/organizations/${organization}`, cookie)).text;
      };
      expect(await read(await createToken(admin, organization, "viewer"))).toContain(link);
      expect(await read(OPERATOR_TOKEN)).not.toContain(contact);
    } finally {
      await admin.stop();
    }
  });
});
