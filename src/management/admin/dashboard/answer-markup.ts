import type { Context } from "hono";
import type { Markup } from "./page.ts";

/** A page as HTML. */
export async function answerMarkup(context: Context, markup: Markup, status: number): Promise<Response> {
  const text = String(await markup);
  return context.html(`<!doctype html>${text}`, status as 200);
}
