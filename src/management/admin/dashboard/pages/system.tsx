/** *System*: findings of `doctor` about the gateway of this host, and their fixes. For operators. */
import { formatCountOf } from "../../format.ts";
import type { HostFinding, HostLevel } from "../../../../shared/host/finding.ts";
import { AdminError } from "../../admin-error.ts";
import { type PageAnswer, type PageCall, type PageRoute, showPage } from "../page.ts";
import { Prose, Time } from "../parts/inline.tsx";
import { Layout, Section } from "../parts/layout.tsx";

const LEVELS: Readonly<Record<HostLevel, string>> = {
  problem: "bad",
  warning: "warn",
  ok: "good",
  skipped: "off",
};

async function showSystem(page: PageCall): Promise<PageAnswer> {
  const { examine } = page.options;
  if (examine === undefined) throw new AdminError("unknown_endpoint", { message: "Unknown page." });
  const findings = await examine();
  const of = (...levels: HostLevel[]) =>
    levels.flatMap((level) => findings.filter((one) => one.level === level));
  const open = of("problem", "warning");
  return showPage(
    <Layout page={page} title="System" section="system">
      <p>
        {formatCountOf(of("problem").length, "problem")}, {formatCountOf(of("warning").length, "warning")},{" "}
        {of("ok").length} in order, {of("skipped").length} skipped. Checked now, on this host, as{" "}
        <code>inference-gateway doctor</code> checks it. <a href="/system">Check again</a>
      </p>
      {open.length === 0 ? null : (
        <Section id="findings" title="Problems and warnings">
          <Findings findings={open} />
        </Section>
      )}
      <Section id="passed" title="Passed and skipped checks">
        <Findings findings={of("ok", "skipped")} />
      </Section>
    </Layout>,
  );
}

function Findings({ findings }: { readonly findings: readonly HostFinding[] }) {
  return (
    <ul class="findings card">
      {findings.map(({ check, level, message, since, fix }) => (
        <li>
          <span class={`state ${LEVELS[level]}`}>{level}</span> <strong>{check}</strong>
          <span class="below break">
            <Prose text={message} />
            {since === null ? null : (
              <>
                {" "}
                Since <Time at={since} />.
              </>
            )}
          </span>
          {fix === null ? null : (
            <span class="below break">
              Fix: <Prose text={fix} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

export const systemPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/system", access: "operator", run: showSystem },
];
