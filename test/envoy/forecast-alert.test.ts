/** A forecast alert of a whole stack: no request fires it, the supervisor's next look at the spend does. */
import { expect, it } from "vitest";
import { WAIT_DIVISOR_VARIABLE } from "../../src/shared/time/internal-waits.ts";
import { dayAt } from "../../src/shared/time/calendar.ts";
import { addDays } from "../../src/shared/time/day-range.ts";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { withChatStack } from "../support/chat-stack.ts";
import { monthLimits } from "../support/month-limits.ts";
import { NO_WATCH } from "../support/no-watch.ts";
import { waitFor } from "../support/wait.ts";

const DIVISOR = 60;
/** A quarter of an hour, divided; four times, on a slow machine. */
const NEXT_LOOK_MS = (4 * 15 * 60_000) / DIVISOR;
const CENT = 1_000_000n;
/** So much that the rest of any month exceeds the limit, even its last seconds. */
const CENTS_A_DAY = 1_000_000n;

const chat = withChatStack(() => ({ env: { [WAIT_DIVISOR_VARIABLE]: String(DIVISOR) } }));

it("a key whose month is on its way past its budget has an alert within a quarter of an hour", async () => {
  const notifications = {
    ...NO_WATCH,
    forecast: true,
    dashboard: true,
    emails: [],
    webhook: null,
    webhooks: [],
  };
  const { organizationId, id: keyId } = await chat.stack.createKey({}, { notifications });
  const store = await chat.stack.store();
  const today = dayAt(await store.timeMs()).name;
  for (let back = 7; back >= 1; back -= 1) {
    const day = addDays(today, -back);
    const identity = {
      ...(await createIdentity(store, { organizationId, keyId, hash: "" })),
      day,
      month: day.slice(0, 7),
    };
    await store.charge(chargeInput(identity, 1, CENTS_A_DAY * CENT, { final: FINAL }));
  }
  const { keyMicrocents } = await store.readSpend(organizationId, null);
  const budget = Number((keyMicrocents.get(keyId) ?? 0n) / CENT) + 1;
  await store.changeKey({ organizationId, keyId }, { limits: monthLimits({ budget }) }, null);
  const forecast = await waitFor(
    "the forecast alert",
    async () => {
      const { items } = await store.listAlerts(organizationId, { limit: 10, after: null });
      return items.find(({ kind }) => kind === "budget_forecast") ?? false;
    },
    { timeoutMs: NEXT_LOOK_MS, intervalMs: 500 },
  );
  expect(forecast).toMatchObject({ scope: "key", keyId, amountCents: budget, period: "month" });
});
