/**
 * Requests and what they cost, worked out by hand: each term of the comment above an amount is tokens times microcents a
 * token of `PRICED_MODEL`, the last one without a factor the fee of the request. Prompts of 2,000 tokens are in the tier above
 * 1,000.
 */
import { catalogEntry } from "../support/gateway-config.ts";

export const PRICED_MODEL = "acme/priced";

/** Microcents a token are a hundred times these prices; of USD's `cache_write` 312.5. */
export const PRICED_ENTRY = catalogEntry({
  id: PRICED_MODEL,
  prices: {
    USD: {
      input: "2.50",
      cached_input: "0.25",
      cache_write: "3.125",
      cache_write_1h: "5.00",
      input_audio: "10.00",
      output: "10.00",
      reasoning: "12.00",
      output_audio: "20.00",
      request: "0.0005",
      tiers: [{ above_prompt_tokens: 1_000, input: "5.00", cached_input: "0.50", output: "15.00" }],
      service_tiers: {
        flex: {
          input: "1.25",
          output: "5.00",
          tiers: [
            {
              above_prompt_tokens: 1_000,
              input: "2.00",
              cached_input: "0.20",
              output: "8.00",
              request: "0.0001",
            },
          ],
        },
        priority: { input: "4.00", cached_input: "0.40", cache_write: "5.00", output: "20.00" },
      },
    },
    EUR: [
      {
        input: "2.30",
        cached_input: "0.23",
        cache_write: "2.90",
        output: "9.20",
        service_tiers: { flex: { input: "1.15", output: "4.60" } },
      },
      { from: "2999-01-01", input: "9.00", output: "9.00" },
    ],
  },
});

export interface PricedRequest {
  readonly form: string;
  readonly price: string;
  readonly currency: "USD" | "EUR";
  /** That the upstream answers with; null: it names none. */
  readonly serviceTier: string | null;
  readonly usage: object;
  readonly microcents: number;
}

const PRICES = {
  usd: { currency: "USD", serviceTier: null, isLarge: false },
  "usd large": { currency: "USD", serviceTier: null, isLarge: true },
  flex: { currency: "USD", serviceTier: "flex", isLarge: false },
  "flex large": { currency: "USD", serviceTier: "flex", isLarge: true },
  priority: { currency: "USD", serviceTier: "priority", isLarge: false },
  eur: { currency: "EUR", serviceTier: "default", isLarge: false },
  "eur flex": { currency: "EUR", serviceTier: "flex", isLarge: false },
  unpriced: { currency: "EUR", serviceTier: "scale", isLarge: false },
} as const;
type PriceName = keyof typeof PRICES;

/** A form of usage, and what it costs at each price. */
interface PricedForm {
  readonly form: string;
  readonly usage: object;
  /** Of a prompt in the tier above. */
  readonly largeUsage: object;
  readonly microcents: Readonly<Record<PriceName, number>>;
}

const FORMS: readonly PricedForm[] = [
  {
    form: "plain",
    usage: { prompt_tokens: 1000, completion_tokens: 100 },
    largeUsage: { prompt_tokens: 2000, completion_tokens: 200 },
    microcents: {
      // 1_000 * 250 + 100 * 1_000 + 50_000
      usd: 400_000,
      // 2_000 * 500 + 200 * 1_500
      "usd large": 1_300_000,
      // 1_000 * 125 + 100 * 500
      flex: 175_000,
      // 2_000 * 200 + 200 * 800 + 10_000
      "flex large": 570_000,
      // 1_000 * 400 + 100 * 2_000
      priority: 600_000,
      // 1_000 * 230 + 100 * 920
      eur: 322_000,
      // 1_000 * 115 + 100 * 460
      "eur flex": 161_000,
      // 1_000 * 230 + 100 * 920
      unpriced: 322_000,
    },
  },
  {
    form: "cached, OpenAI",
    usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 600 } },
    largeUsage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: { cached_tokens: 1200 },
    },
    microcents: {
      // 400 * 250 + 600 * 25 + 100 * 1_000 + 50_000
      usd: 265_000,
      // 800 * 500 + 1_200 * 50 + 200 * 1_500
      "usd large": 760_000,
      // 400 * 125 + 600 * 125 + 100 * 500
      flex: 175_000,
      // 800 * 200 + 1_200 * 20 + 200 * 800 + 10_000
      "flex large": 354_000,
      // 400 * 400 + 600 * 40 + 100 * 2_000
      priority: 384_000,
      // 400 * 230 + 600 * 23 + 100 * 920
      eur: 197_800,
      // 400 * 115 + 600 * 115 + 100 * 460
      "eur flex": 161_000,
      // 400 * 230 + 600 * 23 + 100 * 920
      unpriced: 197_800,
    },
  },
  {
    form: "cached and written, OpenRouter",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 301 },
    },
    largeUsage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: { cached_tokens: 1200, cache_write_tokens: 602 },
    },
    microcents: {
      // 99 * 250 + 600 * 25 + 301 * 312.5 + 100 * 1_000 + 50_000 = 283812.5, rounded up
      usd: 283_813,
      // 198 * 500 + 1_200 * 50 + 602 * 500 + 200 * 1_500
      "usd large": 760_000,
      // 99 * 125 + 600 * 125 + 301 * 125 + 100 * 500
      flex: 175_000,
      // 198 * 200 + 1_200 * 20 + 602 * 200 + 200 * 800 + 10_000
      "flex large": 354_000,
      // 99 * 400 + 600 * 40 + 301 * 500 + 100 * 2_000
      priority: 414_100,
      // 99 * 230 + 600 * 23 + 301 * 290 + 100 * 920
      eur: 215_860,
      // 99 * 115 + 600 * 115 + 301 * 115 + 100 * 460
      "eur flex": 161_000,
      // 99 * 230 + 600 * 23 + 301 * 290 + 100 * 920
      unpriced: 215_860,
    },
  },
  {
    form: "audio and reasoning, OpenAI",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { audio_tokens: 700 },
      completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 30 },
    },
    largeUsage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: { audio_tokens: 1400 },
      completion_tokens_details: { audio_tokens: 120, reasoning_tokens: 60 },
    },
    microcents: {
      // 300 * 250 + 700 * 1_000 + 10 * 1_000 + 30 * 1_200 + 60 * 2_000 + 50_000
      usd: 991_000,
      // 600 * 500 + 1_400 * 500 + 20 * 1_500 + 60 * 1_500 + 120 * 1_500
      "usd large": 1_300_000,
      // 300 * 125 + 700 * 125 + 10 * 500 + 30 * 500 + 60 * 500
      flex: 175_000,
      // 600 * 200 + 1_400 * 200 + 20 * 800 + 60 * 800 + 120 * 800 + 10_000
      "flex large": 570_000,
      // 300 * 400 + 700 * 400 + 10 * 2_000 + 30 * 2_000 + 60 * 2_000
      priority: 600_000,
      // 300 * 230 + 700 * 230 + 10 * 920 + 30 * 920 + 60 * 920
      eur: 322_000,
      // 300 * 115 + 700 * 115 + 10 * 460 + 30 * 460 + 60 * 460
      "eur flex": 161_000,
      // 300 * 230 + 700 * 230 + 10 * 920 + 30 * 920 + 60 * 920
      unpriced: 322_000,
    },
  },
  {
    form: "cached, DeepSeek",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    largeUsage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_cache_hit_tokens: 1200,
      prompt_cache_miss_tokens: 800,
    },
    microcents: {
      // 400 * 250 + 600 * 25 + 100 * 1_000 + 50_000
      usd: 265_000,
      // 800 * 500 + 1_200 * 50 + 200 * 1_500
      "usd large": 760_000,
      // 400 * 125 + 600 * 125 + 100 * 500
      flex: 175_000,
      // 800 * 200 + 1_200 * 20 + 200 * 800 + 10_000
      "flex large": 354_000,
      // 400 * 400 + 600 * 40 + 100 * 2_000
      priority: 384_000,
      // 400 * 230 + 600 * 23 + 100 * 920
      eur: 197_800,
      // 400 * 115 + 600 * 115 + 100 * 460
      "eur flex": 161_000,
      // 400 * 230 + 600 * 23 + 100 * 920
      unpriced: 197_800,
    },
  },
  {
    form: "cached, Moonshot",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 600 },
    largeUsage: { prompt_tokens: 2000, completion_tokens: 200, cached_tokens: 1200 },
    microcents: {
      // 400 * 250 + 600 * 25 + 100 * 1_000 + 50_000
      usd: 265_000,
      // 800 * 500 + 1_200 * 50 + 200 * 1_500
      "usd large": 760_000,
      // 400 * 125 + 600 * 125 + 100 * 500
      flex: 175_000,
      // 800 * 200 + 1_200 * 20 + 200 * 800 + 10_000
      "flex large": 354_000,
      // 400 * 400 + 600 * 40 + 100 * 2_000
      priority: 384_000,
      // 400 * 230 + 600 * 23 + 100 * 920
      eur: 197_800,
      // 400 * 115 + 600 * 115 + 100 * 460
      "eur flex": 161_000,
      // 400 * 230 + 600 * 23 + 100 * 920
      unpriced: 197_800,
    },
  },
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: {
        cached_tokens: 600,
        cache_creation_tokens: 300,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
    },
    largeUsage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: {
        cached_tokens: 1200,
        cache_creation_tokens: 600,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 200 },
      },
    },
    microcents: {
      // 100 * 250 + 600 * 25 + 200 * 312.5 + 100 * 500 + 100 * 1_000 + 50_000
      usd: 302_500,
      // 200 * 500 + 1_200 * 50 + 400 * 500 + 200 * 500 + 200 * 1_500
      "usd large": 760_000,
      // 100 * 125 + 600 * 125 + 200 * 125 + 100 * 125 + 100 * 500
      flex: 175_000,
      // 200 * 200 + 1_200 * 20 + 400 * 200 + 200 * 200 + 200 * 800 + 10_000
      "flex large": 354_000,
      // 100 * 400 + 600 * 40 + 200 * 500 + 100 * 500 + 100 * 2_000
      priority: 414_000,
      // 100 * 230 + 600 * 23 + 200 * 290 + 100 * 290 + 100 * 920
      eur: 215_800,
      // 100 * 115 + 600 * 115 + 200 * 115 + 100 * 115 + 100 * 460
      "eur flex": 161_000,
      // 100 * 230 + 600 * 23 + 200 * 290 + 100 * 290 + 100 * 920
      unpriced: 215_800,
    },
  },
  {
    form: "reasoning beside the output, xAI",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1130,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    largeUsage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      total_tokens: 2260,
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    microcents: {
      // 1_000 * 250 + 100 * 1_000 + 30 * 1_200 + 50_000
      usd: 436_000,
      // 2_000 * 500 + 200 * 1_500 + 60 * 1_500
      "usd large": 1_390_000,
      // 1_000 * 125 + 100 * 500 + 30 * 500
      flex: 190_000,
      // 2_000 * 200 + 200 * 800 + 60 * 800 + 10_000
      "flex large": 618_000,
      // 1_000 * 400 + 100 * 2_000 + 30 * 2_000
      priority: 660_000,
      // 1_000 * 230 + 100 * 920 + 30 * 920
      eur: 349_600,
      // 1_000 * 115 + 100 * 460 + 30 * 460
      "eur flex": 174_800,
      // 1_000 * 230 + 100 * 920 + 30 * 920
      unpriced: 349_600,
    },
  },
  {
    form: "thinking in the total, Gemini",
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1130 },
    largeUsage: { prompt_tokens: 2000, completion_tokens: 200, total_tokens: 2260 },
    microcents: {
      // 1_000 * 250 + 100 * 1_000 + 30 * 1_200 + 50_000
      usd: 436_000,
      // 2_000 * 500 + 200 * 1_500 + 60 * 1_500
      "usd large": 1_390_000,
      // 1_000 * 125 + 100 * 500 + 30 * 500
      flex: 190_000,
      // 2_000 * 200 + 200 * 800 + 60 * 800 + 10_000
      "flex large": 618_000,
      // 1_000 * 400 + 100 * 2_000 + 30 * 2_000
      priority: 660_000,
      // 1_000 * 230 + 100 * 920 + 30 * 920
      eur: 349_600,
      // 1_000 * 115 + 100 * 460 + 30 * 460
      "eur flex": 174_800,
      // 1_000 * 230 + 100 * 920 + 30 * 920
      unpriced: 349_600,
    },
  },
  {
    form: "cached above the prompt",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 1200 },
    largeUsage: { prompt_tokens: 2000, completion_tokens: 200, cached_tokens: 2400 },
    microcents: {
      // 1_000 * 25 + 100 * 1_000 + 50_000
      usd: 175_000,
      // 2_000 * 50 + 200 * 1_500
      "usd large": 400_000,
      // 1_000 * 125 + 100 * 500
      flex: 175_000,
      // 2_000 * 20 + 200 * 800 + 10_000
      "flex large": 210_000,
      // 1_000 * 40 + 100 * 2_000
      priority: 240_000,
      // 1_000 * 23 + 100 * 920
      eur: 115_000,
      // 1_000 * 115 + 100 * 460
      "eur flex": 161_000,
      // 1_000 * 23 + 100 * 920
      unpriced: 115_000,
    },
  },
];

export const PRICED_REQUESTS: readonly PricedRequest[] = FORMS.flatMap(
  ({ form, usage, largeUsage, microcents }) =>
    Object.entries(PRICES).map(([price, { isLarge, ...charged }]) => ({
      form,
      price,
      ...charged,
      usage: isLarge ? largeUsage : usage,
      microcents: microcents[price as PriceName],
    })),
);
