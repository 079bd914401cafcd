/** Rotation of a key's secret and revocation of all keys, for leaked secrets. */
import { createKey, displayKey, hashKey } from "../../../data-path/auth/key-format.ts";
import { isProviderKey } from "../../../shared/stored/management.ts";
import { AdminError } from "../admin-error.ts";
import { expectVersion, formatETag } from "../http/etag.ts";
import { keyRotation, keyWithSecret, revocation } from "../schemas/key.ts";
import { formatKey } from "./format-key.ts";
import { readKeyFigures, referenceOf, requireKey } from "./keys.ts";
import { describeChange, recordChange } from "./record-change.ts";
import { defineOrganizationRoute } from "./route.ts";

const KEYS = "/api/organizations/{organization}/keys";
/** Bound of an audit entry; the response and the usage name all keys. */
const AUDITED_KEYS = 1_000;

const rotate = defineOrganizationRoute({
  method: "POST",
  path: `${KEYS}/{key}/rotate`,
  operationId: "rotateKey",
  summary: "Give an API key a new secret. `key` in the response is shown only once.",
  body: keyRotation,
  isBodyOptional: true,
  usesIfMatch: true,
  answers: { 200: keyWithSecret },
  handleInOrganization: async (call, services) => {
    const current = await requireKey(call, services);
    expectVersion(call.ifMatch, current.version);
    if (isProviderKey(current)) throw new AdminError("key_without_secret");
    // Read first: once the new secret exists, nothing may prevent its response.
    const figures = await readKeyFigures(current, services);
    const secret = createKey();
    const hashed = { hash: hashKey(secret), display: displayKey(secret) };
    const graceSeconds = call.body.grace_seconds ?? 0;
    const result = await services.store.rotateKey(
      referenceOf(current),
      hashed,
      graceSeconds * 1000,
      (before) =>
        describeChange(
          {
            action: "key.rotated",
            target: { type: "key", id: before.id, name: before.name },
            before: { display: before.display, grace_seconds: null },
            after: { display: hashed.display, grace_seconds: graceSeconds },
          },
          call,
        ),
    );
    if (result.outcome === "version_conflict") throw new AdminError("change_conflict");
    if (result.outcome === "not_found") throw new AdminError("key_not_found");
    const { after } = result;
    return {
      status: 200,
      body: { ...formatKey(after, figures), key: secret },
      headers: { etag: formatETag(after.version) },
    };
  },
});

const revokeAll = defineOrganizationRoute({
  method: "POST",
  path: `${KEYS}/revoke-all`,
  operationId: "revokeAllKeys",
  summary: "Permanently delete every API key of the organization. Repeat it if it was interrupted.",
  answers: { 200: revocation },
  handleInOrganization: async (call, services) => {
    const { organization } = call;
    const revoked = await services.store.revokeAllKeys(organization.id);
    const data = revoked.map(({ id, name, display }) => ({ id, name, display }));
    if (data.length > 0) {
      await recordChange(
        organization.id,
        {
          action: "keys.revoked",
          target: { type: "organization", id: organization.id, name: organization.name },
          before: { count: data.length, keys: data.slice(0, AUDITED_KEYS) },
          after: null,
        },
        call,
        services,
      );
    }
    return { status: 200, body: { revoked: data.length, data } };
  },
});

export { rotate as rotateKeyRoute };

export const keySecretRoutes = [rotate, revokeAll];
