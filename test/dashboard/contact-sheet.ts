/** A sheet with all pictures of a page side by side, as WebP, drawn by the browser. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { ALL_VIEWS, DEVICES } from "./camera.ts";
import { draw } from "./draw-sheet.js";

/** Size of a picture, as a fraction of the screen's. */
const SCALE = 0.45;
const GAP = 12;
/** Longer pages are cut. */
const MAX_HEIGHT = 1_300;
const QUALITY = 0.5;

export interface SheetRow {
  /** Path of a picture by view; "": none. */
  readonly paths: readonly string[];
}

/** Draws one row per state of the page: its views from the widest to the narrowest, each light and dark. */
export async function drawSheet(page: Page, rows: readonly SheetRow[]): Promise<Buffer> {
  const pictures = rows.map(({ paths }) =>
    paths.map((path) =>
      path === "" ? "" : `data:image/png;base64,${readFileSync(path).toString("base64")}`,
    ),
  );
  const widths = ALL_VIEWS.map(({ device }) => Math.round(DEVICES[device].width * SCALE));
  const drawn = await page.evaluate(draw, { pictures, widths, gap: GAP, most: MAX_HEIGHT, quality: QUALITY });
  return Buffer.from(drawn.slice(drawn.indexOf(",") + 1), "base64");
}
