import { readFileSync } from "node:fs";
import { programFile } from "../../../shared/host/package-files.ts";
import type { AdminApp } from "../app-options.ts";

/**
 * Parts of the style sheet, one for each component, in cascade order: later rules win over earlier ones of equal
 * specificity; rules for narrow screens come last in each part. `docs/internals/design-system.md` describes them.
 */
const STYLES = [
  "tokens",
  "base",
  "navigation",
  "cards",
  "notices",
  "tables",
  "forms",
  "buttons",
  "charts",
  "figures",
  "requests",
  "limits",
  "snippets",
  "print",
];

const ASSETS = {
  "dashboard.js": "text/javascript; charset=utf-8",
  "describe-amount.js": "text/javascript; charset=utf-8",
  "describe-rate.js": "text/javascript; charset=utf-8",
  "save-drafts.js": "text/javascript; charset=utf-8",
  "narrow-chart.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

/**
 * Serves the style sheet, the scripts and the icon without sign-in. One sheet for all pages, so that browsers
 * cache it.
 */
export function addAssets(app: AdminApp): void {
  const styles = STYLES.map((name) => readAsset(`styles/${name}.css`).toString("utf8")).join("\n");
  app.get("/assets/dashboard.css", (context) =>
    context.body(styles, 200, { "content-type": "text/css; charset=utf-8" }),
  );
  for (const [name, type] of Object.entries(ASSETS)) {
    const bytes = new Uint8Array(readAsset(name));
    app.get(`/assets/${name}`, (context) => context.body(bytes, 200, { "content-type": type }));
  }
}

function readAsset(name: string): Buffer {
  return readFileSync(programFile(`management/admin/dashboard/assets/${name}`));
}
