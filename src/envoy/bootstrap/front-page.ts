/** Page of the base URL in a browser. Envoy serves it as it is here: at most 4,096 bytes, and nothing in it is a secret. */

import { STATUS_PAGE } from "../../shared/contract/pages.ts";

export interface FrontPage {
  /** Address of the documentation. */
  readonly documentation: string;
  /** `dashboard.base_url`; null: not set. */
  readonly dashboard: string | null;
}

/** Returns the policy of a page without scripts, images or forms, which frames one page of the dashboard. */
export function formatFrontPagePolicy({ dashboard }: FrontPage): string {
  const frames = dashboard === null ? "" : ` frame-src ${new URL(dashboard).origin};`;
  return `default-src 'none';${frames} style-src 'unsafe-inline'; frame-ancestors 'none'`;
}

const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:10vh auto;padding:0 1rem}code{overflow-wrap:anywhere}iframe{width:100%;height:15rem;border:0}";

export function formatFrontPage({ documentation, dashboard }: FrontPage): string {
  const signIn =
    dashboard === null
      ? "<p>To see limits, usage and requests of your API key, ask your operator for the address of the dashboard.</p>"
      : `<p><a href="${escapeHtml(dashboard)}/sign-in">Sign in</a> with your API key, or as your company signs in, to see what is left of your limits, your usage, your requests, models and snippets.</p><iframe src="${escapeHtml(dashboard)}${STATUS_PAGE}" title="Status of the models"></iframe>`;
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta name="color-scheme" content="light dark"><title>Inference gateway</title><style>${STYLE}</style></head>`,
    "<body><main><h1>Inference gateway</h1>",
    "<p>Programs send requests to language models here. OpenAI clients use this address with <code>/v1</code> as the base URL, Anthropic clients this address. Both send an API key.</p>",
    signIn,
    `<p><a href="${escapeHtml(documentation)}">Documentation</a></p></main></body></html>`,
  ].join("");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
