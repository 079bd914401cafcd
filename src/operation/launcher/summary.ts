/** What a person or program needs for the first request. */
export interface StackFacts {
  /** Without a slash at the end and without `/v1`. */
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly demoKey: string;
  /** A model of the catalog, for the example. */
  readonly model: string;
  readonly logDir: string;
  readonly dataDir: string;
  /** A command line that looks at this stack, to paste. */
  readonly manageCommand: string;
}

/** One line of JSON for programs. */
export function formatJsonLine(facts: StackFacts): string {
  return JSON.stringify({
    base_url: facts.baseUrl,
    admin_url: facts.adminUrl,
    admin_token: facts.adminToken,
    demo_key: facts.demoKey,
  });
}

/** A few lines for a person at a terminal, with a request to paste. */
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
