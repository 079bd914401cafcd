import { readFileSync } from "node:fs";
import { programFile } from "../../../shared/host/package-files.ts";
import type { AdminApp } from "../app-options.ts";

/**
 * The parts of the style sheet, in the order of the cascade: what stands later goes before what is as specific. First what
 * pages share, then what is of a page alone; what holds on narrow screens stands in each of them last.
 */
const SHARED = ["base", "navigation", "cards", "tables", "forms", "charts"];
const BY_PAGE = [
  "sign-in",
  "overview",
  "usage",
  "requests",
  "limits",
  "alerts",
  "settings",
  "audit",
  "try-it",
];

const ASSETS = {
  "dashboard.js": "text/javascript; charset=utf-8",
  "describe-amount.js": "text/javascript; charset=utf-8",
  "describe-rate.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

/** The style sheet, the scripts and the icon; everybody may have them. One sheet for all pages: a browser keeps it. */
export function addAssets(app: AdminApp): void {
  const styles = [...SHARED, ...BY_PAGE]
    .map((name) => readAsset(`styles/${name}.css`).toString("utf8"))
    .join("\n");
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
