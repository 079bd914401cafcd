/**
 * Filters that run once a request's upstream is chosen: remove all headers that the upstream must not see,
 * then add the upstream's credentials. This is the last enforcement of the header policy, whatever the
 * sidecar did. Credentials are only in Envoy's secrets; clients and the sidecar never see them.
 */
import { dirname } from "node:path";
import type { UpstreamConfig } from "../../shared/config/schema.ts";
import {
  HEADERS_NOT_FOR_UPSTREAMS,
  MESSAGES_HEADERS_NOT_FOR_UPSTREAMS,
  MESSAGES_PREFIX,
  PREFIXES_NOT_FOR_UPSTREAMS,
} from "../../data-path/exchange/upstream/header-policy.ts";
import { INTERNAL_HEADER_PREFIX } from "../names.ts";
import { formatAuthority } from "./upstream-balancing.ts";
import type { CredentialFile } from "./upstream-secrets.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

type AwsSigning = NonNullable<UpstreamConfig["awsSigning"]>;

/** Headers that Envoy adds after signing, or that need no signature. */
const UNSIGNED_HEADERS = [
  "traceparent",
  "tracestate",
  "x-request-id",
  "user-agent",
  "accept",
  "content-length",
];

const CREDENTIAL_FILTER = "envoy.filters.http.credential_injector";

/** Prefixes of headers that Envoy itself needs until here. */
const REMOVED_PREFIXES = [INTERNAL_HEADER_PREFIX, ...PREFIXES_NOT_FOR_UPSTREAMS, "x-envoy-", "x-forwarded-"];

/** Returns the `http_filters` of an upstream's cluster. */
export function createUpstreamFilters(
  { awsSigning, endpoints, forwardHeaders }: UpstreamConfig,
  credentials: readonly CredentialFile[],
  speaksMessages: boolean,
): EnvoyNode[] {
  const [endpoint] = endpoints;
  const isSigned = awsSigning !== null && endpoint !== undefined;
  return [
    createHeaderRemoval(credentials, speaksMessages, forwardHeaders),
    ...credentials.map(createCredentialFilter),
    ...(isSigned ? [createSigningFilter(awsSigning, formatAuthority(endpoint))] : []),
    {
      name: "envoy.filters.http.upstream_codec",
      typed_config: typed("envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec"),
    },
  ];
}

/** @param forwarded Headers that the operator allows: the sidecar removes all others with its prefix. */
function createHeaderRemoval(
  credentials: readonly CredentialFile[],
  speaksMessages: boolean,
  forwarded: readonly string[],
): EnvoyNode {
  const own = [
    ...(speaksMessages ? MESSAGES_HEADERS_NOT_FOR_UPSTREAMS : []),
    ...credentials.map(({ header }) => header),
  ];
  const removed = HEADERS_NOT_FOR_UPSTREAMS.filter((name) => !forwarded.includes(name));
  const prefixes = REMOVED_PREFIXES.filter(
    (prefix) =>
      !(speaksMessages && prefix === MESSAGES_PREFIX) && !forwarded.some((name) => name.startsWith(prefix)),
  );
  return {
    "#": "The client's key and everything about client and gateway, whether a credential follows or not.",
    name: "envoy.filters.http.header_mutation",
    typed_config: typed("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", {
      mutations: {
        request_mutations: [
          ...[...new Set([...removed, ...own])].map((name) => oneLine({ remove: name })),
          ...prefixes.map((prefix) => oneLine({ remove_on_match: { key_matcher: { prefix } } })),
          {
            "#": "A server may compress its answer unless it is told not to (RFC 9110, section 12.5.3).",
            append: {
              header: oneLine({ key: "accept-encoding", value: "identity" }),
              append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
            },
          },
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

function createSigningFilter(signing: AwsSigning, host: string): EnvoyNode {
  const { region, service, credentialsFile, profile } = signing;
  return {
    "#": "The last that touches the request: path, headers and body are signed as they are sent, at each try anew.",
    name: "envoy.filters.http.aws_request_signing",
    typed_config: typed("envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigning", {
      service_name: service,
      region,
      "#host_rewrite": "The Host that is sent: Envoy itself would write it only after the signature.",
      host_rewrite: host,
      match_excluded_headers: UNSIGNED_HEADERS.map((exact) => oneLine({ exact })),
      ...(credentialsFile === null
        ? {}
        : { credential_provider: createFileProvider(credentialsFile, profile) }),
    }),
  };
}

/** Returns a credentials provider that reads only this file, which is renewed by a rename. */
function createFileProvider(file: string, profile: string): EnvoyNode {
  return {
    custom_credential_provider_chain: true,
    credentials_file_provider: {
      credentials_data_source: {
        filename: file,
        watched_directory: oneLine({ path: dirname(file) }),
      },
      profile,
    },
  };
}
