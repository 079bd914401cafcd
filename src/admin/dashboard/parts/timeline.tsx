/** @jsxImportSource hono/jsx */
import { formatDuration } from "../../format.ts";
import type { RequestView } from "../views.ts";

type Moments = NonNullable<RequestView["timeline"]>;

/** In their order. */
const STEPS: readonly { readonly moment: keyof Moments; readonly label: string; readonly kind: string }[] = [
  { moment: "body_ms", label: "body received", kind: "body" },
  { moment: "routed_ms", label: "sent to the upstream", kind: "held" },
  { moment: "upstream_ms", label: "upstream answered", kind: "upstream" },
  { moment: "first_token_ms", label: "first token", kind: "token" },
  { moment: "end_ms", label: "end", kind: "end" },
];

interface Step {
  readonly label: string;
  readonly kind: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The way of a request, step by step, drawn to scale. */
export function Timeline({ request }: { request: Pick<RequestView, "timeline" | "upstream"> }) {
  const { timeline, upstream } = request;
  if (timeline === null) return null;
  const steps = listSteps(timeline);
  const total = Math.max(1, timeline.end_ms);
  const status = upstream?.status ?? null;
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol class="timeline card">
        <li>
          <span>admitted</span>
          <span class="number">0 ms</span>
          <span></span>
        </li>
        {steps.map(({ label, kind, fromMs, toMs }) => (
          <li>
            <span>
              {label}
              {kind === "upstream" && status !== null ? ` with ${status}` : ""}
            </span>
            <span class="number">{formatDuration(toMs)}</span>
            <svg viewBox="0 0 1000 12" preserveAspectRatio="none" class="bar" aria-hidden="true">
              <rect class="track" x="0" y="0" width="1000" height="12" />
              <rect
                class={kind}
                x={Math.min(996, Math.round((fromMs / total) * 1000))}
                y="0"
                width={Math.max(4, Math.round(((toMs - fromMs) / total) * 1000))}
                height="12"
              />
            </svg>
          </li>
        ))}
      </ol>
    </section>
  );
}

function listSteps(timeline: Moments): Step[] {
  let fromMs = 0;
  return STEPS.flatMap(({ moment, label, kind }) => {
    const toMs = timeline[moment];
    if (toMs === null) return [];
    const step = { label, kind, fromMs, toMs };
    fromMs = toMs;
    return [step];
  });
}
