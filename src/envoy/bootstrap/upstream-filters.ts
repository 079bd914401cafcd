/**
 * What happens to a request when its upstream is chosen: everything that is none of the upstream's business is taken off,
 * and then the upstream's credentials are put on. The last lock of the header policy, whatever the sidecar did. A
 * credential lies in Envoy's secrets only; neither a client nor the sidecar ever sees it.
 */
import { dirname } from "node:path";
import { HEADERS_NOT_FOR_UPSTREAMS, PREFIXES_NOT_FOR_UPSTREAMS } from "../../exchange/header-policy.ts";
import { INTERNAL_HEADER_PREFIX } from "../names.ts";
import type { CredentialFile } from "./upstream-secrets.ts";
import { oneLine, typed } from "./yaml-document.ts";
import type { EnvoyNode } from "./yaml-document.ts";

const CREDENTIAL_FILTER = "envoy.filters.http.credential_injector";

/** What Envoy itself needs until here. */
const REMOVED_PREFIXES = [INTERNAL_HEADER_PREFIX, ...PREFIXES_NOT_FOR_UPSTREAMS, "x-envoy-", "x-forwarded-"];

/** `http_filters` of an upstream's cluster. */
export function createUpstreamFilters(credentials: readonly CredentialFile[]): EnvoyNode[] {
  return [
    createHeaderRemoval(credentials),
    ...credentials.map(createCredentialFilter),
    {
      name: "envoy.filters.http.upstream_codec",
      typed_config: typed("envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec"),
    },
  ];
}

function createHeaderRemoval(credentials: readonly CredentialFile[]): EnvoyNode {
  const own = credentials.map(({ header }) => header);
  return {
    "#": "The client's key and everything about client and gateway, whether a credential follows or not.",
    name: "envoy.filters.http.header_mutation",
    typed_config: typed("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", {
      mutations: {
        request_mutations: [
          ...[...new Set([...HEADERS_NOT_FOR_UPSTREAMS, ...own])].map((name) => oneLine({ remove: name })),
          ...REMOVED_PREFIXES.map((prefix) => oneLine({ remove_on_match: { key_matcher: { prefix } } })),
        ],
      },
    }),
  };
}

function createCredentialFilter(credential: CredentialFile): EnvoyNode {
  const { header, prefix, secretName, file } = credential;
  return {
    "#": "Without a credential no request goes out. A renewed file is picked up at once.",
    name: header === "authorization" ? CREDENTIAL_FILTER : `${CREDENTIAL_FILTER}.${header}`,
    typed_config: typed("envoy.extensions.filters.http.credential_injector.v3.CredentialInjector", {
      overwrite: true,
      allow_request_without_credential: false,
      credential: {
        name: "generic",
        typed_config: typed("envoy.extensions.http.injected_credentials.generic.v3.Generic", {
          header,
          ...(prefix === "" ? {} : { header_value_prefix: prefix }),
          credential: {
            name: secretName,
            sds_config: {
              path_config_source: {
                path: file,
                watched_directory: oneLine({ path: dirname(file) }),
              },
              resource_api_version: "V3",
            },
          },
        }),
      },
    }),
  };
}
