/** Last parts of the filters' types, which identify a filter whatever its name. */
export const FILTERS = {
  manager: "http_connection_manager.v3.HttpConnectionManager",
  clientPath: "header_to_metadata.v3.Config",
  tokens: "jwt_authn.v3.JwtAuthentication",
  admission: "ext_authz.v3.ExtAuthz",
  buffer: "buffer.v3.Buffer",
  processing: "ext_proc.v3.ExternalProcessor",
  router: "router.v3.Router",
  credential: "credential_injector.v3.CredentialInjector",
  signing: "aws_request_signing.v3.AwsRequestSigning",
  lua: "lua.v3.Lua",
  headerMutation: "header_mutation.v3.HeaderMutation",
} as const;
