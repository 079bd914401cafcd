/** A sheet with pictures of a page side by side, as WebP, drawn by the browser. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { draw } from "./draw-sheet.js";

/** Size of a picture, as a fraction of the screen's. */
const SCALE = 0.4;
const GAP = 12;
/** Longer pages are cut. */
const MAX_HEIGHT = 900;
const QUALITY = 0.4;

export interface SheetPicture {
  readonly title: string;
  readonly path: string;
  /** Width of the screen. */
  readonly width: number;
}

export async function drawSheet(page: Page, rows: readonly (readonly SheetPicture[])[]): Promise<Buffer> {
  const pictures = rows.map((row) =>
    row.map(({ title, path, width }) => ({
      title,
      url: `data:image/png;base64,${readFileSync(path).toString("base64")}`,
      width: Math.round(width * SCALE),
    })),
  );
  const drawn = await page.evaluate(draw, { rows: pictures, gap: GAP, most: MAX_HEIGHT, quality: QUALITY });
  return Buffer.from(drawn.slice(drawn.indexOf(",") + 1), "base64");
}
