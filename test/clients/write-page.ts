/** `npm run clients`: puts what the last nightly run of the client tests found into the table of docs/clients.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { formatProofs, readProofs } from "./proofs.ts";

const PAGE = new URL("../../docs/clients.md", import.meta.url);
const TABLE = /(?<=<!-- clients: begin -->\n)[^]*(?=<!-- clients: end -->)/u;

writeFileSync(PAGE, readFileSync(PAGE, "utf8").replace(TABLE, `\n${formatProofs(readProofs())}\n\n`));
