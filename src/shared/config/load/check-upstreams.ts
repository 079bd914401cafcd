/** Checks of upstream fields that depend on each other. Work on the raw file, even if wrong. */
import type { CrossProblem } from "./check-names.ts";
import { itemsOf, numberOf, textOf, valueAt } from "./raw-values.ts";

/** Returns problems in `upstreams`. */
export function checkUpstreams(file: unknown): CrossProblem[] {
  return itemsOf(valueAt(file, "upstreams")).flatMap((upstream, index): CrossProblem[] => {
    if (typeof upstream !== "object" || upstream === null) return [];
    return [...checkPlaces(upstream), ...checkCredentials(upstream), ...checkSigning(upstream)].map(
      ({ path, message }) => ({
        path: ["upstreams", index, ...path],
        message,
      }),
    );
  });
}

/** Fields with the upstream's address. */
const PLACES: readonly string[] = ["url", "urls", "endpoints"];

function checkPlaces(upstream: object): CrossProblem[] {
  const given = PLACES.filter((name) => valueAt(upstream, name) !== undefined);
  const [place, other] = given;
  if (place === undefined) {
    const message = "required, but missing; expected `url`, or `urls` or `endpoints` for several";
    return [{ path: ["url"], message }];
  }
  if (other !== undefined) {
    return [{ path: [other], message: `expected either \`${place}\` or \`${other}\`, found both` }];
  }
  const urls = listUrls(upstream, place);
  const encrypted = urls.filter((url) => url.startsWith("https:")).length;
  if (encrypted > 0 && encrypted < urls.length) {
    return [{ path: [place], message: "expected all `http` or all `https`, found both" }];
  }
  if (encrypted === 0 && valueAt(upstream, "tls") !== undefined) {
    const message = "only an `https` upstream has TLS settings; this one's URL is `http`";
    return [{ path: ["tls"], message }];
  }
  return place === "endpoints" ? checkEndpoints(upstream, urls) : [];
}

function listUrls(upstream: object, place: string): string[] {
  const value = valueAt(upstream, place);
  const urls = place === "endpoints" ? itemsOf(value).map((one) => valueAt(one, "url")) : [value].flat();
  return urls.filter((url) => typeof url === "string");
}

function checkEndpoints(upstream: object, urls: readonly string[]): CrossProblem[] {
  const endpoints = itemsOf(valueAt(upstream, "endpoints"));
  const twice = urls.findIndex((url, index) => urls.indexOf(url) !== index);
  if (twice !== -1 && urls.length === endpoints.length) {
    const first = urls.indexOf(urls[twice] ?? "");
    return [{ path: ["endpoints", twice, "url"], message: `endpoints[${first}] already has this URL` }];
  }
  const given = endpoints.map((endpoint) => numberOf(valueAt(endpoint, "priority"), 0));
  const priorities = [...new Set(given)].sort((one, next) => one - next);
  if (priorities.every((priority, index) => priority === index)) return [];
  const message = `priorities start at 0 without gaps, found ${priorities.join(", ")}`;
  return [{ path: ["endpoints"], message }];
}

function checkCredentials(upstream: object): CrossProblem[] {
  const several = valueAt(upstream, "credentials");
  if (several === undefined) return [];
  if (valueAt(upstream, "credential") !== undefined) {
    return [{ path: ["credentials"], message: "expected either `credential` or `credentials`, found both" }];
  }
  const headers = itemsOf(several).map(headerOf);
  return headers.flatMap((header, index) => {
    const first = headers.indexOf(header);
    if (first === index) return [];
    return [
      { path: ["credentials", index], message: `credentials[${first}] is already sent as \`${header}\`` },
    ];
  });
}

/** Returns the header of a raw credential. */
function headerOf(credential: unknown): string {
  return (textOf(valueAt(credential, "header")) ?? "authorization").toLowerCase();
}

/** Checks that a signed upstream has one host and no `authorization` header, which the signature uses. */
function checkSigning(upstream: object): CrossProblem[] {
  if (valueAt(upstream, "aws_signing") === undefined) return [];
  const path = ["aws_signing"];
  if (PLACES.flatMap((place) => listUrls(upstream, place)).length > 1) {
    const message = "requests are signed for one host: the upstream needs a single `url`";
    return [{ path, message }];
  }
  const credentials = [valueAt(upstream, "credential"), ...itemsOf(valueAt(upstream, "credentials"))];
  const isTaken = credentials.some((one) => one !== undefined && headerOf(one) === "authorization");
  return isTaken
    ? [{ path, message: "both the signature and a credential would be sent as `authorization`" }]
    : [];
}
