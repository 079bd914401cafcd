/** `GET …/usage/export`: a month's usage as a file, streamed at its reader's speed. */
import { monthAt, parseMonth } from "../../../shared/time/calendar.ts";
import { EXPORT_FORMATS } from "../usage-export/export-formats.ts";
import { readExportRows } from "../usage-export/export-rows.ts";
import { usageExportQuery } from "../schemas/usage.ts";
import { defineOrganizationRoute } from "./route.ts";

const GZIP = "application/gzip";

const exportUsage = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/usage/export",
  operationId: "exportUsage",
  summary: "Export a month's usage.",
  description:
    "Streamed. If it breaks off, continue with `after`, the `row_id` of the last whole row: the remaining rows follow, " +
    "without a header line. The rows of a past month never change.",
  query: usageExportQuery,
  answers: { 200: null },
  streams: ["text/csv", "application/jsonl", GZIP],
  handleInOrganization: async ({ organization, query }, { store, reports }) => {
    const month = parseMonth(query.month ?? "") ?? monthAt(await store.timeMs());
    const format = EXPORT_FORMATS[query.format ?? "csv"];
    const after = query.after ?? null;
    const batches = readExportRows(store, organization, { month, after });
    const close = reports.openExport(organization.id);
    const chunks = (async function* (): AsyncGenerator<string> {
      if (after === null && format.header !== "") yield format.header;
      for await (const rows of batches) yield rows.map(format.formatRow).join("");
    })();
    const isZipped = query.gzip === "true";
    const name = `usage-${organization.id}-${month.name}.${format.extension}${isZipped ? ".gz" : ""}`;
    const text = await openStream(chunks, close);
    return {
      status: 200,
      body: isZipped ? text.pipeThrough(new CompressionStream("gzip")) : text,
      headers: {
        "content-type": isZipped ? GZIP : format.mediaType,
        "content-disposition": `attachment; filename="${name}"`,
      },
    };
  },
});

/**
 * Opens a stream that produces the next chunk only when its reader has capacity. The first chunk is produced
 * before, so that early failures are errors of the call. `onClosed` is called when reading ends for any
 * reason.
 */
export async function openStream(
  chunks: AsyncGenerator<string>,
  onClosed: () => void,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const encoder = new TextEncoder();
  const read = async (): Promise<IteratorResult<string>> => {
    try {
      const result = await chunks.next();
      if (result.done === true) onClosed();
      return result;
    } catch (error) {
      onClosed();
      throw error;
    }
  };
  let next: IteratorResult<string> | null = await read();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = next ?? (await read());
      next = null;
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      onClosed();
      await chunks.return(undefined);
    },
  });
}

export const usageExportRoutes = [exportUsage];
