import {
  CLIENT_CREDENTIAL_HEADERS,
  INCLUDE_COST_HEADER,
  isReservedHeader,
  SESSION_BUDGET_HEADER,
  TAGS_HEADER,
} from "../../../contract/header-names.ts";
import { text } from "../fields.ts";

/** Name of a request header, in any case. */
export const headerName = () =>
  text("the name of a header: letters, digits and `-`", /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,126}[A-Za-z0-9])?$/);

const OWN: readonly string[] = [
  ...CLIENT_CREDENTIAL_HEADERS,
  TAGS_HEADER,
  INCLUDE_COST_HEADER,
  SESSION_BUDGET_HEADER.name,
];

/** Header of clients that may reach an upstream; becomes lower case. */
export const forwardedHeader = () =>
  headerName()
    .refine((name) => !isReservedHeader(name.toLowerCase()), {
      error: (issue) =>
        `\`${String(issue.input)}\` belongs to the connection, the request or the gateway, which set it`,
    })
    .refine((name) => !OWN.includes(name.toLowerCase()), {
      error: (issue) =>
        `\`${String(issue.input)}\` is a header from clients for this gateway; it never reaches an upstream`,
    })
    .transform((name) => name.toLowerCase());
