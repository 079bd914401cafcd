/** Providers of `dashboard.oidc`, and the roles that the running configuration gives. */
import type { OidcProviderConfig } from "../../../shared/config/schema.ts";
import { IdentityProvider } from "../../oidc/identity-provider.ts";
import { chooseRole, isSameGrant } from "../../oidc/roles.ts";
import type { PersonHolder } from "../../../shared/stored/sessions.ts";

export interface IdentityProvidersOptions {
  readonly configs: readonly OidcProviderConfig[];
  /** `dashboard.base_url`, without a final slash. */
  readonly baseUrl: string;
  readonly nowMs: () => number;
}

export class IdentityProviders {
  readonly all: readonly IdentityProvider[];
  /** Address to return to after signing out. */
  readonly signedOutUrl: string;

  constructor({ configs, baseUrl, nowMs }: IdentityProvidersOptions) {
    this.all = configs.map((config) => new IdentityProvider(config, baseUrl, nowMs));
    this.signedOutUrl = `${baseUrl}/sign-in`;
  }

  find(name: string): IdentityProvider | null {
    return this.all.find((provider) => provider.name === name) ?? null;
  }

  /** Returns whether a signed-in person would still get the same role from the same provider. */
  isStillGranted(holder: PersonHolder): boolean {
    const provider = this.find(holder.provider);
    if (provider === null || !isIssuer(provider.config.issuer, holder.issuer)) return false;
    const grant = chooseRole(provider.config.roles, holder.groups);
    return grant !== null && isSameGrant(grant, holder);
  }
}

export const NO_PROVIDERS = new IdentityProviders({ configs: [], baseUrl: "", nowMs: () => 0 });

/** Ignores a final slash, as the sign-in does. */
function isIssuer(configured: string, signed: string): boolean {
  return configured.replace(/\/$/, "") === signed.replace(/\/$/, "");
}
