/** `GET /api/whoami`: whom a token, or a sign-in, belongs to. */
import type { Principal } from "../principal.ts";
import { whoami } from "../schemas/whoami.ts";
import { defineRoute } from "./route.ts";

export const whoamiRoute = defineRoute({
  method: "GET",
  path: "/api/whoami",
  operationId: "whoAmI",
  summary: "Show who you are, and what you can access.",
  member: true,
  answers: { 200: whoami },
  handle: async ({ principal }, { store }) => {
    const organizationId = principal.type === "operator" ? null : principal.organizationId;
    const organization = organizationId === null ? null : await store.getOrganization(organizationId);
    const named = organization === null ? null : { id: organization.id, name: organization.name };
    return { status: 200, body: { ...describe(principal), organization: named } };
  },
});

function describe(principal: Principal) {
  const type = principal.type;
  const role = type === "operator" ? "operator" : principal.role;
  const person = type === "token" ? undefined : principal.person;
  const name = type === "operator" ? (person?.name ?? null) : principal.name;
  const userId = type === "person" ? principal.userId : null;
  const identity = { issuer: person?.issuer ?? null, subject: person?.subject ?? null };
  return { type: person === undefined ? type : "person", name, role, ...identity, user_id: userId };
}
