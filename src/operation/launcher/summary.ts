/** Details for the first request, for people and programs. */
export interface StackFacts {
  /** Without a final slash and `/v1`. */
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly demoKey: string;
  /** Catalog model of the example. */
  readonly model: string;
  readonly logDir: string;
  readonly dataDir: string;
  /** Command line for managing this stack, to paste. */
  readonly manageCommand: string;
}

/** Formats one line of JSON for programs. */
export function formatJsonLine(facts: StackFacts): string {
  return JSON.stringify({
    base_url: facts.baseUrl,
    admin_url: facts.adminUrl,
    admin_token: facts.adminToken,
    demo_key: facts.demoKey,
  });
}

/** Formats the summary for a terminal: a few lines, and a request to paste. */
export function formatSummary(facts: StackFacts): string {
  const body = JSON.stringify({ model: facts.model, messages: [{ role: "user", content: "Hello!" }] });
  return [
    "",
    "The inference gateway is running.",
    "",
    `  OpenAI base URL      ${facts.baseUrl}/v1`,
    `  Anthropic base URL   ${facts.baseUrl}`,
    `  API key              ${facts.demoKey}`,
    `  Dashboard            ${facts.adminUrl}`,
    `  Operator token       ${facts.adminToken}`,
    "",
    "Try it:",
    "",
    `  curl ${facts.baseUrl}/v1/chat/completions \\`,
    `    -H 'Authorization: Bearer ${facts.demoKey}' \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${body.replaceAll("'", "'\\''")}'`,
    "",
    `Organizations, keys, limits: ${facts.manageCommand} (and --help)`,
    "",
    `Data is kept in ${facts.dataDir}, logs in ${facts.logDir}. Ctrl-C stops everything.`,
    "",
  ].join("\n");
}
