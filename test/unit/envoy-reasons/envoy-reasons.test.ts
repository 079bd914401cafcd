import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { explainConnectError } from "../../../src/shared/envoy-reasons/connection-reasons.ts";
import { formatRemedy, describeReason } from "../../../src/shared/envoy-reasons/reason.ts";
import { explainDetails } from "../../../src/shared/envoy-reasons/response-details.ts";
import { FLAGS } from "../../../src/shared/envoy-reasons/response-flags.ts";

interface EnvoyList {
  readonly names: readonly string[];
}

const ENVOY = JSON.parse(readFileSync(new URL("envoy-1.40.json", import.meta.url), "utf8")) as Readonly<
  Record<"flags" | "core" | "codecs" | "filters" | "resets", EnvoyList>
>;

const BEFORE = "upstream_reset_before_response_started";
const AFTER = "upstream_reset_after_response_started";
const TLS = `${BEFORE}{remote_connection_failure|TLS_error:|268435581:SSL_routines:OPENSSL_internal`;
const says = (details: string): string => describeReason(explainDetails(details)!, "local");

describe("the response flags of Envoy", () => {
  it("are in the table, all and no others", () => {
    expect(Object.keys(FLAGS).toSorted()).toEqual(ENVOY.flags.names.toSorted());
  });

  it.each([
    { by: "client", flags: ["DC", "DR", "DPE", "IH"] },
    { by: "upstream", flags: ["UH", "UF", "UT", "UC", "UR", "URX", "UPE", "DF"] },
    { by: null, flags: ["DI", "RFCF"] },
  ])("that lie on the side of the $by are $flags, all others on the gateway's", ({ by, flags }) => {
    const found = Object.entries(FLAGS).filter(([, { brokenBy }]) => brokenBy === by);
    expect(found.map(([flag]) => flag).toSorted()).toEqual(flags.toSorted());
  });
});

describe("the details of Envoy's response codes", () => {
  it.each(["core", "codecs", "filters"] as const)("of %s are in the table, all of them", (list) => {
    expect(ENVOY[list].names.filter((name) => explainDetails(name) === null)).toEqual([]);
  });

  it.each([BEFORE, AFTER])("of %s have words for every reason of a reset", (reset) => {
    expect(ENVOY.resets.names.filter((name) => explainDetails(`${reset}{${name}}`) === null)).toEqual([]);
  });

  it.each([
    [
      `${BEFORE}{remote_connection_failure|delayed_connect_error:_Connection_refused}`,
      "refused the connection",
    ],
    [`${BEFORE}{remote_connection_failure|delayed_connect_error:_111}`, "refused the connection"],
    [`${BEFORE}{remote_connection_failure|immediate_connect_error:_Network_is_unreachable}`, "no route"],
    [`${BEFORE}{remote_connection_failure}`, "could not be connected to"],
    [`${BEFORE}{connection_timeout}`, "accepted no connection in time"],
    [`${BEFORE}{overflow}`, "as many concurrent requests as Envoy may send"],
    [`${BEFORE}{protocol_error}`, "an invalid or incomplete HTTP response"],
    [`${BEFORE}{connection_termination}`, "before its response began"],
    [`${BEFORE}{remote_reset}`, "before its response began"],
    [`${AFTER}{connection_termination}`, "during its response"],
    [
      `${TLS}:CERTIFICATE_VERIFY_FAILED:verify_cert_failed:_verify_SAN_list,_expected_SANs:_[a],_certificate_SANs:_[b]:TLS_error_end}`,
      "for another name",
    ],
    [
      `${TLS}:CERTIFICATE_VERIFY_FAILED:verify_cert_failed:_X509_verify_cert:_certificate_verification_error_at_depth_0:_certificate_has_expired:TLS_error_end}`,
      "an expired certificate",
    ],
    [
      `${TLS}:CERTIFICATE_VERIFY_FAILED:verify_cert_failed:_X509_verify_cert:_certificate_verification_error_at_depth_0:_unable_to_get_local_issuer_certificate:TLS_error_end}`,
      "of an unknown authority",
    ],
    [`${TLS}:WRONG_VERSION_NUMBER:TLS_error_end}`, "doesn't speak TLS"],
    [`${TLS}:TLSV1_ALERT_UNKNOWN_CA:TLS_error_end}`, "requires a client certificate"],
    [`${TLS}:SSLV3_ALERT_HANDSHAKE_FAILURE:TLS_error_end}`, "no TLS version or cipher"],
    [`${TLS}:SOMETHING_NEW:TLS_error_end}`, "aborted the TLS handshake"],
    ["rbac_access_denied_matched_policy[none]", "an RBAC rule"],
    ["ext_proc_error_gRPC_error_14{upstream_connect_error}", "the gateway's worker exited"],
    ["downstream_local_disconnect(http2_ping_timeout)", "Envoy closed the client's connection"],
  ])("tell of %s what happened", (details, words) => {
    expect(says(details)).toContain(words);
  });

  it.each(["overloaded", "gateway timeout", "no_healthy_upstreams", "out of memory", ""])(
    "are not what a model's server says: %j",
    (text) => {
      expect(explainDetails(text)).toBeNull();
    },
  );

  it("name the upstream and who must act", () => {
    const refused = explainDetails(
      `${BEFORE}{remote_connection_failure|delayed_connect_error:_Connection_refused}`,
    )!;
    expect(describeReason(refused, null)).toBe(
      "the upstream refused the connection: nothing listens at its address",
    );
    expect(formatRemedy(refused)).toMatch(/^For the gateway's operator: Start the model server/);
  });
});

describe("an error of Node's on a connection", () => {
  it.each([
    ["ECONNREFUSED", "refused the connection", false],
    ["EAI_AGAIN", "a host name without an address", false],
    ["EHOSTUNREACH", "no route", false],
    ["CERT_HAS_EXPIRED", "an expired certificate", true],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "for another name", true],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "of an unknown authority", true],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "of an unknown authority", true],
    ["CERT_REVOKED", "that the gateway doesn't accept", true],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "requires a client certificate", false],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "doesn't speak TLS", false],
  ])("%s is told in the same words", (code, words, isCertificate) => {
    const found = explainConnectError(Object.assign(new Error("no"), { code }))!;
    expect(describeReason(found, "local")).toContain(words);
    expect(found.isCertificate).toBe(isCertificate);
  });

  it("of several addresses is told by the first one's", () => {
    const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED" });
    expect(explainConnectError(new AggregateError([refused]))).toBe(explainConnectError(refused));
    expect(explainConnectError(new Error("no"))).toBeNull();
    expect(explainConnectError("no")).toBeNull();
  });
});
