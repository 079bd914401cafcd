/** An account whose charges are recorded, and answers whose observation the test sets. */
import { NO_USES } from "../../../src/shared/usage/server-tools.ts";
import { createPrice } from "../../../src/data-path/pricing/price.ts";
import { type AccountOptions, RequestAccount } from "../../../src/data-path/settlement/request-account.ts";
import type { Ending } from "../../../src/data-path/settlement/settled.ts";
import { TokenEstimator } from "../../../src/data-path/settlement/tokens/token-estimator.ts";
import type { ChargeInput } from "../../../src/shared/stored/settlement.ts";
import type { Answer, Observation } from "../../../src/data-path/translation/client-protocol.ts";

export const IDENTITY = {
  organizationId: "org_1",
  keyId: "key_1",
  requestId: "req_1",
  month: "2026-11",
  day: "2026-11-21",
  model: "acme/echo-small",
  route: "POST /v1/messages",
  currency: "USD",
};
/** One microcent for a prompt token, a tenth for a cached one, 10 for a generated one. */
export const PRICE = createPrice({
  from: null,
  input: 1_000_000n,
  cachedInput: 100_000n,
  output: 10_000_000n,
  tiers: [],
  serviceTiers: [],
});
export const OK = { status: 200, errorCode: null };
export const NOTHING_YET: Observation = {
  usage: null,
  usageContradiction: null,
  unknownFinishReason: null,
  isUsageIncomplete: false,
  isZeroUsage: false,
  serviceTier: null,
  toolUses: NO_USES,
  isRefused: false,
  generatedBytes: 0,
  generatedDeltas: 0,
  generatedText: "",
};

export interface AccountUnderTest {
  readonly account: RequestAccount;
  readonly estimator: TokenEstimator;
  /** Every charge, in the order it was sent. */
  readonly charges: ChargeInput[];
  readonly endings: Ending[];
  settledCount: number;
  /** What was seen of the answer so far. */
  readonly observe: (observation: Partial<Observation>) => void;
}

export interface FixtureOptions {
  readonly charge?: (input: ChargeInput) => Promise<void>;
  /** By the tokenizer; null: it cannot. */
  readonly counted?: number | null;
  /** One answer to one prompt when left out. */
  readonly requested?: AccountOptions["requested"];
  readonly takenTokens?: AccountOptions["takenTokens"];
}

/** A request of 100 estimated prompt tokens and at most 50 generated ones. */
export function createAccount(options: FixtureOptions = {}): AccountUnderTest {
  const { charge, counted = null, requested = { choices: 1, prompts: 1 } } = options;
  const estimator = new TokenEstimator({ count: () => Promise.resolve(counted) });
  const charges: ChargeInput[] = [];
  const endings: Ending[] = [];
  const account = new RequestAccount({
    identity: IDENTITY,
    model: { id: IDENTITY.model },
    price: PRICE,
    promptBytes: 400,
    promptVisibleTextBytes: 400,
    estimatedInputTokens: 100,
    requested,
    largestOutputTokens: 50,
    estimator,
    template: null,
    takenTokens: options.takenTokens ?? null,
    onOutputCounted: null,
    accounts: {
      charge: async (input) => {
        charges.push(input);
        await charge?.(input);
        return true;
      },
      isBegun: () => false,
      onCounted: (_, ending) => endings.push(ending),
      onSettled: () => {
        tested.settledCount += 1;
      },
    },
  });
  let isRouted = false;
  const tested: AccountUnderTest = {
    account,
    estimator,
    charges,
    endings,
    settledCount: 0,
    observe: (observation) => {
      if (!isRouted) account.markRouted(0);
      isRouted = true;
      const seen: Pick<Answer, "observation"> = { observation: { ...NOTHING_YET, ...observation } };
      account.observe(seen as Answer);
    },
  };
  return tested;
}
