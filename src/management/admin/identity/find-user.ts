/** User of an organization for a person who signs in: the same as for calls with a token of the issuer. */
import { defaultsOf, describeSettings } from "../../../shared/settings/table.ts";
import { USER_SETTINGS } from "../../../shared/settings/user.ts";
import type { Grant } from "../../oidc/roles.ts";
import type { Identity } from "../../oidc/identity-provider.ts";
import type { AuditInput } from "../../../shared/stored/audit.ts";
import type { OwnerStore, UserRecord } from "../../../shared/stored/owners.ts";
import { AdminError } from "../admin-error.ts";
import { type Journal, recordRefusal, type SignedInPerson } from "./record-sign-in.ts";

type Signed = SignedInPerson & Pick<Identity, "email">;

/**
 * Returns the user's id. Creates a user at a member's first sign-in; with other roles the person may have
 * none.
 * @throws AdminError 403 for a disabled user, or one that cannot be created; errors of the store if Redis is
 * unreachable.
 */
export async function findUser(
  grant: Grant,
  person: Signed,
  journal: Journal,
  store: Pick<OwnerStore, "findExternalUser" | "findOrCreateExternalUser">,
): Promise<string | null> {
  if (grant.role === "operator") return null;
  const { organizationId } = grant;
  const { issuer, subject } = person;
  if (grant.role !== "member") {
    const known = await store.findExternalUser(organizationId, { issuer, subject });
    return known === null ? null : requireEnabled(known, person, journal);
  }
  const { name, email } = person;
  const settings = { ...defaultsOf(USER_SETTINGS), name, email };
  const result = await store.findOrCreateExternalUser(organizationId, { issuer, subject }, settings, (made) =>
    describeCreation(made, person, journal),
  );
  if ("user" in result) return requireEnabled(result.user, person, journal);
  await recordRefusal(journal, person, `user_${result.outcome}`);
  const message =
    "Your user can't be created in the organization of your role. Contact the operator of this gateway.";
  throw new AdminError("permission_denied", { message });
}

async function requireEnabled(
  { id, disabled }: UserRecord,
  person: SignedInPerson,
  journal: Journal,
): Promise<string> {
  if (!disabled) return id;
  await recordRefusal(journal, person, "user_disabled");
  throw new AdminError("permission_denied", {
    message: "Your user is disabled. Ask an admin of the organization to enable it.",
  });
}

function describeCreation(
  made: UserRecord,
  { issuer, subject, name }: SignedInPerson,
  journal: Journal,
): AuditInput {
  return {
    actor: { type: "person", id: made.id, name, role: "member", issuer, subject },
    action: "user.created",
    target: { type: "user", id: made.id, name: made.name },
    before: null,
    after: describeSettings(USER_SETTINGS, made),
    requestId: journal.requestId,
  };
}
