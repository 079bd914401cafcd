import type { Context } from "hono";
import { JUDGED_MINUTES, JUDGED_REQUESTS, type ModelCounts } from "../../model-status.ts";
import { answerMarkup } from "../page.ts";
import { Layout } from "../parts/layout.tsx";

/** *Status of the models*, without a sign-in; the page of the gateway's base URL shows it in a frame. */
export function answerStatus(context: Context, counts: ModelCounts | null): Promise<Response> {
  // Only this page has no form and nothing secret, so any page may frame it.
  context.header("content-security-policy", "default-src 'self'; frame-ancestors *; base-uri 'none'");
  const isFailing = counts !== null && counts.failing > 0;
  return answerMarkup(
    context,
    <Layout page={null} title="Status of the models">
      <p class={isFailing ? "notice bad" : "notice"}>{describeCounts(counts)}</p>
      <p class="quiet">
        A model is failing if at least half of its requests in the last {JUDGED_MINUTES} minutes failed, of{" "}
        {JUDGED_REQUESTS} or more.{" "}
        <a href="/sign-in" target="_top">
          Sign in
        </a>{" "}
        to see each model.
      </p>
    </Layout>,
    200,
  );
}

function describeCounts(counts: ModelCounts | null): string {
  if (counts === null) return "The status of the models is unknown.";
  const { failing, models } = counts;
  if (failing === 0) return "No model is failing.";
  return `${failing} of ${models} ${models === 1 ? "model is" : "models are"} failing.`;
}
