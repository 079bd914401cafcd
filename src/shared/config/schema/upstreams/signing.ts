/** Signing of final requests by Envoy: AWS Signature Version 4. */
import * as z from "zod";
import { described, mapping, orNull, path, text } from "../fields.ts";
import type { SecretSource } from "../../secret.ts";

/** `upstreams[].aws_signing`. */
export function createAwsSigningSchema(source: SecretSource) {
  const signing = mapping({
    region: text("an AWS region such as `us-east-1`", /^[a-z0-9-]{1,64}$/).describe(
      "Region of the signature.",
    ),
    service: text("an AWS service's name such as `bedrock`", /^[a-z0-9-]{1,64}$/).describe(
      "Service of the signature: `bedrock`, `sagemaker`, `execute-api`.",
    ),
    credentials_file: described(orNull(path(source)), "Access key in AWS's format; only Envoy reads it.", {
      default: "identity of Envoy's pod or machine",
    }),
    profile: text("a profile's name", /^[A-Za-z0-9_-]{1,64}$/)
      .default("default")
      .describe("Profile in `credentials_file`."),
  });
  return orNull(signing);
}

const NO_GOOGLE =
  "not supported, because Envoy 1.40 has no `gcp_authn` among an upstream's filters. " +
  "Renew a token in a file, and set `credential: {file: …}`";

/** `upstreams[].gcp_authn`: rejected, with the reason. */
export function createGoogleRefusal() {
  return described(
    z.undefined({ error: NO_GOOGLE }).optional(),
    "Not supported by Envoy 1.40; use `credential.file` with a token that you renew.",
    { type: "nothing" },
  );
}
