/** The providers of `dashboard.oidc`, and what they let people do by the running configuration. */
import type { OidcProviderConfig } from "../../../shared/config/schema.ts";
import { IdentityProvider } from "../../oidc/identity-provider.ts";
import { chooseRole, isSameGrant } from "../../oidc/roles.ts";
import type { PersonHolder } from "../../../data-path/store/types/sessions.ts";

export interface IdentityProvidersOptions {
  readonly configs: readonly OidcProviderConfig[];
  /** `dashboard.base_url`, without a slash at its end. */
  readonly baseUrl: string;
  readonly nowMs: () => number;
}

export class IdentityProviders {
  readonly all: readonly IdentityProvider[];
  /** Where people come back to when they have signed out. */
  readonly signedOutUrl: string;

  constructor({ configs, baseUrl, nowMs }: IdentityProvidersOptions) {
    this.all = configs.map((config) => new IdentityProvider(config, baseUrl, nowMs));
    this.signedOutUrl = `${baseUrl}/sign-in`;
  }

  find(name: string): IdentityProvider | null {
    return this.all.find((provider) => provider.name === name) ?? null;
  }

  /** Whether whoever was signed in would get the same role today, of the same provider. */
  isStillGranted(holder: PersonHolder): boolean {
    const provider = this.find(holder.provider);
    if (provider === null || !isIssuer(provider.config.issuer, holder.issuer)) return false;
    const grant = chooseRole(provider.config.roles, holder.groups);
    return grant !== null && isSameGrant(grant, holder);
  }
}

export const NO_PROVIDERS = new IdentityProviders({ configs: [], baseUrl: "", nowMs: () => 0 });

/** A slash at the end is forgiven at the sign-in, too. */
function isIssuer(configured: string, signed: string): boolean {
  return configured.replace(/\/$/, "") === signed.replace(/\/$/, "");
}
