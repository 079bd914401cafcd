import type { AdminClient, JsonObject } from "./management/admin-client.ts";
import { CommandError, RefusedCall } from "./management/command-error.ts";
import { explainRequest } from "./management/explain-request.ts";
import { findOrganization, findRequestIds, organizationPath, refuseAmbiguous } from "./management/find.ts";
import { addOrganizationOption, type GlobalCommandRow } from "./management/management-command.ts";

/** `explain <request>`: why a request was rejected, or how its cost was calculated. */
export const explainCommand: GlobalCommandRow = {
  usage: "explain <request>",
  description:
    "Explain why a request was rejected, or what it cost: checks, timeline, upstream status, prices.",
  examples: ["explain req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11", "explain req_… --org Acme --json"],
  hasTable: true,
  options: addOrganizationOption,
  async run({ client, options, argument }) {
    const { organization, request } = await findRequest(client, argument, options.org);
    return {
      json: request,
      text: (screen) => explainRequest(request, { screen, organization, url: client.url }),
    };
  },
};

interface Found {
  readonly organization: JsonObject;
  readonly request: JsonObject;
}

/** Searches the named organization, or otherwise all. */
async function findRequest(client: AdminClient, wanted: string, org: string | undefined): Promise<Found> {
  const organizations =
    org === undefined ? await client.list("/api/organizations") : [await findOrganization(client, org)];
  const found: Found[] = [];
  for (const organization of organizations) {
    const path = organizationPath(organization);
    for (const id of await findRequestIds(client, path, wanted)) {
      const request = await readRequest(client, `${path}/requests/${encodeURIComponent(id)}`);
      if (request === null) continue;
      if (id === wanted) return { organization, request };
      found.push({ organization, request });
    }
  }
  const [first, second] = found;
  if (second !== undefined) {
    const ids = found.map(({ request }) => String(request["id"]));
    return refuseAmbiguous(wanted, "request", ids);
  }
  if (first !== undefined) return first;
  throw new CommandError(
    `${wanted} isn't among the recent requests: each organization keeps about 10,000, and 2,000 that were rejected at once. Older ones are in the request log; 404, 405, 415 and invalid API keys aren't recorded.`,
  );
}

/** Returns null if the organization does not have it. */
async function readRequest(client: AdminClient, path: string): Promise<JsonObject | null> {
  return client.call("GET", path).catch((error: unknown) => {
    if (error instanceof RefusedCall && error.status === 404) return null;
    throw error;
  });
}
