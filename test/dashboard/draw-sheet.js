// @ts-nocheck -- runs in browsers, whose types this repository does not load.
/** Draws rows of pictures onto one, light and dark next to each other. Returns it as a data URL. */
export async function draw({ pictures, widths, gap, most, quality }) {
  const rows = await Promise.all(
    pictures.map((row) =>
      Promise.all(
        row.map(async (url) => (url === "" ? null : createImageBitmap(await (await fetch(url)).blob()))),
      ),
    ),
  );
  const heightOf = (one, width) =>
    one === null ? 0 : Math.min(most, Math.round((one.height * width) / one.width));
  const heights = rows.map((row) => Math.max(...row.map((one, at) => heightOf(one, widths[at] ?? 1))));
  const canvas = document.createElement("canvas");
  canvas.width = widths.reduce((sum, width) => sum + width + gap, gap);
  canvas.height = heights.reduce((sum, height) => sum + height + gap, gap);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  context.imageSmoothingQuality = "high";
  context.fillStyle = "#8a93a3";
  context.fillRect(0, 0, canvas.width, canvas.height);
  let top = gap;
  for (const [place, row] of rows.entries()) {
    let left = gap;
    for (const [at, one] of row.entries()) {
      const width = widths[at] ?? 1;
      const height = heightOf(one, width);
      if (one !== null) {
        context.drawImage(one, 0, 0, one.width, (height * one.width) / width, left, top, width, height);
      }
      left += width + gap;
    }
    top += (heights[place] ?? 0) + gap;
  }
  return canvas.toDataURL("image/webp", quality);
}
