/**
 * Requests and what they cost, worked out by hand: each term of the comment above a row is tokens times microcents a token
 * of `PRICED_MODEL`, the last one without a factor the fee of the request. Prompts of 2,000 tokens are in the tier above
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

export const PRICED_REQUESTS: readonly PricedRequest[] = [
  // 1_000 * 250 + 100 * 1_000 + 50_000
  {
    form: "plain",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 1000, completion_tokens: 100 },
    microcents: 400_000,
  },
  // 2_000 * 500 + 200 * 1_500
  {
    form: "plain",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 2000, completion_tokens: 200 },
    microcents: 1_300_000,
  },
  // 1_000 * 125 + 100 * 500
  {
    form: "plain",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100 },
    microcents: 175_000,
  },
  // 2_000 * 200 + 200 * 800 + 10_000
  {
    form: "plain",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 2000, completion_tokens: 200 },
    microcents: 570_000,
  },
  // 1_000 * 400 + 100 * 2_000
  {
    form: "plain",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: { prompt_tokens: 1000, completion_tokens: 100 },
    microcents: 600_000,
  },
  // 1_000 * 230 + 100 * 920
  {
    form: "plain",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: { prompt_tokens: 1000, completion_tokens: 100 },
    microcents: 322_000,
  },
  // 1_000 * 115 + 100 * 460
  {
    form: "plain",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100 },
    microcents: 161_000,
  },
  // 1_000 * 230 + 100 * 920
  {
    form: "plain",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: { prompt_tokens: 1000, completion_tokens: 100 },
    microcents: 322_000,
  },
  // 400 * 250 + 600 * 25 + 100 * 1_000 + 50_000
  {
    form: "cached, OpenAI",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 600 } },
    microcents: 265_000,
  },
  // 800 * 500 + 1_200 * 50 + 200 * 1_500
  {
    form: "cached, OpenAI",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 2000, completion_tokens: 200, prompt_tokens_details: { cached_tokens: 1200 } },
    microcents: 760_000,
  },
  // 400 * 125 + 600 * 125 + 100 * 500
  {
    form: "cached, OpenAI",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 600 } },
    microcents: 175_000,
  },
  // 800 * 200 + 1_200 * 20 + 200 * 800 + 10_000
  {
    form: "cached, OpenAI",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 2000, completion_tokens: 200, prompt_tokens_details: { cached_tokens: 1200 } },
    microcents: 354_000,
  },
  // 400 * 400 + 600 * 40 + 100 * 2_000
  {
    form: "cached, OpenAI",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 600 } },
    microcents: 384_000,
  },
  // 400 * 230 + 600 * 23 + 100 * 920
  {
    form: "cached, OpenAI",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 600 } },
    microcents: 197_800,
  },
  // 400 * 115 + 600 * 115 + 100 * 460
  {
    form: "cached, OpenAI",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 600 } },
    microcents: 161_000,
  },
  // 400 * 230 + 600 * 23 + 100 * 920
  {
    form: "cached, OpenAI",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 600 } },
    microcents: 197_800,
  },
  // 99 * 250 + 600 * 25 + 301 * 312.5 + 100 * 1_000 + 50_000 = 283812.5, rounded up
  {
    form: "cached and written, OpenRouter",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 301 },
    },
    microcents: 283_813,
  },
  // 198 * 500 + 1_200 * 50 + 602 * 500 + 200 * 1_500
  {
    form: "cached and written, OpenRouter",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: { cached_tokens: 1200, cache_write_tokens: 602 },
    },
    microcents: 760_000,
  },
  // 99 * 125 + 600 * 125 + 301 * 125 + 100 * 500
  {
    form: "cached and written, OpenRouter",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 301 },
    },
    microcents: 175_000,
  },
  // 198 * 200 + 1_200 * 20 + 602 * 200 + 200 * 800 + 10_000
  {
    form: "cached and written, OpenRouter",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: { cached_tokens: 1200, cache_write_tokens: 602 },
    },
    microcents: 354_000,
  },
  // 99 * 400 + 600 * 40 + 301 * 500 + 100 * 2_000
  {
    form: "cached and written, OpenRouter",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 301 },
    },
    microcents: 414_100,
  },
  // 99 * 230 + 600 * 23 + 301 * 290 + 100 * 920
  {
    form: "cached and written, OpenRouter",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 301 },
    },
    microcents: 215_860,
  },
  // 99 * 115 + 600 * 115 + 301 * 115 + 100 * 460
  {
    form: "cached and written, OpenRouter",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 301 },
    },
    microcents: 161_000,
  },
  // 99 * 230 + 600 * 23 + 301 * 290 + 100 * 920
  {
    form: "cached and written, OpenRouter",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 301 },
    },
    microcents: 215_860,
  },
  // 300 * 250 + 700 * 1_000 + 10 * 1_000 + 30 * 1_200 + 60 * 2_000 + 50_000
  {
    form: "audio and reasoning, OpenAI",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { audio_tokens: 700 },
      completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 30 },
    },
    microcents: 991_000,
  },
  // 600 * 500 + 1_400 * 500 + 20 * 1_500 + 60 * 1_500 + 120 * 1_500
  {
    form: "audio and reasoning, OpenAI",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: { audio_tokens: 1400 },
      completion_tokens_details: { audio_tokens: 120, reasoning_tokens: 60 },
    },
    microcents: 1_300_000,
  },
  // 300 * 125 + 700 * 125 + 10 * 500 + 30 * 500 + 60 * 500
  {
    form: "audio and reasoning, OpenAI",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { audio_tokens: 700 },
      completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 30 },
    },
    microcents: 175_000,
  },
  // 600 * 200 + 1_400 * 200 + 20 * 800 + 60 * 800 + 120 * 800 + 10_000
  {
    form: "audio and reasoning, OpenAI",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: { audio_tokens: 1400 },
      completion_tokens_details: { audio_tokens: 120, reasoning_tokens: 60 },
    },
    microcents: 570_000,
  },
  // 300 * 400 + 700 * 400 + 10 * 2_000 + 30 * 2_000 + 60 * 2_000
  {
    form: "audio and reasoning, OpenAI",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { audio_tokens: 700 },
      completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 30 },
    },
    microcents: 600_000,
  },
  // 300 * 230 + 700 * 230 + 10 * 920 + 30 * 920 + 60 * 920
  {
    form: "audio and reasoning, OpenAI",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { audio_tokens: 700 },
      completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 30 },
    },
    microcents: 322_000,
  },
  // 300 * 115 + 700 * 115 + 10 * 460 + 30 * 460 + 60 * 460
  {
    form: "audio and reasoning, OpenAI",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { audio_tokens: 700 },
      completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 30 },
    },
    microcents: 161_000,
  },
  // 300 * 230 + 700 * 230 + 10 * 920 + 30 * 920 + 60 * 920
  {
    form: "audio and reasoning, OpenAI",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { audio_tokens: 700 },
      completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 30 },
    },
    microcents: 322_000,
  },
  // 400 * 250 + 600 * 25 + 100 * 1_000 + 50_000
  {
    form: "cached, DeepSeek",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    microcents: 265_000,
  },
  // 800 * 500 + 1_200 * 50 + 200 * 1_500
  {
    form: "cached, DeepSeek",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_cache_hit_tokens: 1200,
      prompt_cache_miss_tokens: 800,
    },
    microcents: 760_000,
  },
  // 400 * 125 + 600 * 125 + 100 * 500
  {
    form: "cached, DeepSeek",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    microcents: 175_000,
  },
  // 800 * 200 + 1_200 * 20 + 200 * 800 + 10_000
  {
    form: "cached, DeepSeek",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_cache_hit_tokens: 1200,
      prompt_cache_miss_tokens: 800,
    },
    microcents: 354_000,
  },
  // 400 * 400 + 600 * 40 + 100 * 2_000
  {
    form: "cached, DeepSeek",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    microcents: 384_000,
  },
  // 400 * 230 + 600 * 23 + 100 * 920
  {
    form: "cached, DeepSeek",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    microcents: 197_800,
  },
  // 400 * 115 + 600 * 115 + 100 * 460
  {
    form: "cached, DeepSeek",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    microcents: 161_000,
  },
  // 400 * 230 + 600 * 23 + 100 * 920
  {
    form: "cached, DeepSeek",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    microcents: 197_800,
  },
  // 400 * 250 + 600 * 25 + 100 * 1_000 + 50_000
  {
    form: "cached, Moonshot",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 600 },
    microcents: 265_000,
  },
  // 800 * 500 + 1_200 * 50 + 200 * 1_500
  {
    form: "cached, Moonshot",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 2000, completion_tokens: 200, cached_tokens: 1200 },
    microcents: 760_000,
  },
  // 400 * 125 + 600 * 125 + 100 * 500
  {
    form: "cached, Moonshot",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 600 },
    microcents: 175_000,
  },
  // 800 * 200 + 1_200 * 20 + 200 * 800 + 10_000
  {
    form: "cached, Moonshot",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 2000, completion_tokens: 200, cached_tokens: 1200 },
    microcents: 354_000,
  },
  // 400 * 400 + 600 * 40 + 100 * 2_000
  {
    form: "cached, Moonshot",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 600 },
    microcents: 384_000,
  },
  // 400 * 230 + 600 * 23 + 100 * 920
  {
    form: "cached, Moonshot",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 600 },
    microcents: 197_800,
  },
  // 400 * 115 + 600 * 115 + 100 * 460
  {
    form: "cached, Moonshot",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 600 },
    microcents: 161_000,
  },
  // 400 * 230 + 600 * 23 + 100 * 920
  {
    form: "cached, Moonshot",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 600 },
    microcents: 197_800,
  },
  // 100 * 250 + 600 * 25 + 200 * 312.5 + 100 * 500 + 100 * 1_000 + 50_000
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: {
        cached_tokens: 600,
        cache_creation_tokens: 300,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
    },
    microcents: 302_500,
  },
  // 200 * 500 + 1_200 * 50 + 400 * 500 + 200 * 500 + 200 * 1_500
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: {
        cached_tokens: 1200,
        cache_creation_tokens: 600,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 200 },
      },
    },
    microcents: 760_000,
  },
  // 100 * 125 + 600 * 125 + 200 * 125 + 100 * 125 + 100 * 500
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: {
        cached_tokens: 600,
        cache_creation_tokens: 300,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
    },
    microcents: 175_000,
  },
  // 200 * 200 + 1_200 * 20 + 400 * 200 + 200 * 200 + 200 * 800 + 10_000
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      prompt_tokens_details: {
        cached_tokens: 1200,
        cache_creation_tokens: 600,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 200 },
      },
    },
    microcents: 354_000,
  },
  // 100 * 400 + 600 * 40 + 200 * 500 + 100 * 500 + 100 * 2_000
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: {
        cached_tokens: 600,
        cache_creation_tokens: 300,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
    },
    microcents: 414_000,
  },
  // 100 * 230 + 600 * 23 + 200 * 290 + 100 * 290 + 100 * 920
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: {
        cached_tokens: 600,
        cache_creation_tokens: 300,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
    },
    microcents: 215_800,
  },
  // 100 * 115 + 600 * 115 + 200 * 115 + 100 * 115 + 100 * 460
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: {
        cached_tokens: 600,
        cache_creation_tokens: 300,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
    },
    microcents: 161_000,
  },
  // 100 * 230 + 600 * 23 + 200 * 290 + 100 * 290 + 100 * 920
  {
    form: "written for 5 minutes and an hour, LiteLLM",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: {
        cached_tokens: 600,
        cache_creation_tokens: 300,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
    },
    microcents: 215_800,
  },
  // 1_000 * 250 + 100 * 1_000 + 30 * 1_200 + 50_000
  {
    form: "reasoning beside the output, xAI",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1130,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    microcents: 436_000,
  },
  // 2_000 * 500 + 200 * 1_500 + 60 * 1_500
  {
    form: "reasoning beside the output, xAI",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      total_tokens: 2260,
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    microcents: 1_390_000,
  },
  // 1_000 * 125 + 100 * 500 + 30 * 500
  {
    form: "reasoning beside the output, xAI",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1130,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    microcents: 190_000,
  },
  // 2_000 * 200 + 200 * 800 + 60 * 800 + 10_000
  {
    form: "reasoning beside the output, xAI",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 200,
      total_tokens: 2260,
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    microcents: 618_000,
  },
  // 1_000 * 400 + 100 * 2_000 + 30 * 2_000
  {
    form: "reasoning beside the output, xAI",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1130,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    microcents: 660_000,
  },
  // 1_000 * 230 + 100 * 920 + 30 * 920
  {
    form: "reasoning beside the output, xAI",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1130,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    microcents: 349_600,
  },
  // 1_000 * 115 + 100 * 460 + 30 * 460
  {
    form: "reasoning beside the output, xAI",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1130,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    microcents: 174_800,
  },
  // 1_000 * 230 + 100 * 920 + 30 * 920
  {
    form: "reasoning beside the output, xAI",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1130,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    microcents: 349_600,
  },
  // 1_000 * 250 + 100 * 1_000 + 30 * 1_200 + 50_000
  {
    form: "thinking in the total, Gemini",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1130 },
    microcents: 436_000,
  },
  // 2_000 * 500 + 200 * 1_500 + 60 * 1_500
  {
    form: "thinking in the total, Gemini",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 2000, completion_tokens: 200, total_tokens: 2260 },
    microcents: 1_390_000,
  },
  // 1_000 * 125 + 100 * 500 + 30 * 500
  {
    form: "thinking in the total, Gemini",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1130 },
    microcents: 190_000,
  },
  // 2_000 * 200 + 200 * 800 + 60 * 800 + 10_000
  {
    form: "thinking in the total, Gemini",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 2000, completion_tokens: 200, total_tokens: 2260 },
    microcents: 618_000,
  },
  // 1_000 * 400 + 100 * 2_000 + 30 * 2_000
  {
    form: "thinking in the total, Gemini",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1130 },
    microcents: 660_000,
  },
  // 1_000 * 230 + 100 * 920 + 30 * 920
  {
    form: "thinking in the total, Gemini",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1130 },
    microcents: 349_600,
  },
  // 1_000 * 115 + 100 * 460 + 30 * 460
  {
    form: "thinking in the total, Gemini",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1130 },
    microcents: 174_800,
  },
  // 1_000 * 230 + 100 * 920 + 30 * 920
  {
    form: "thinking in the total, Gemini",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1130 },
    microcents: 349_600,
  },
  // 1_000 * 25 + 100 * 1_000 + 50_000
  {
    form: "cached above the prompt",
    price: "usd",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 1200 },
    microcents: 175_000,
  },
  // 2_000 * 50 + 200 * 1_500
  {
    form: "cached above the prompt",
    price: "usd large",
    currency: "USD",
    serviceTier: null,
    usage: { prompt_tokens: 2000, completion_tokens: 200, cached_tokens: 2400 },
    microcents: 400_000,
  },
  // 1_000 * 125 + 100 * 500
  {
    form: "cached above the prompt",
    price: "flex",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 1200 },
    microcents: 175_000,
  },
  // 2_000 * 20 + 200 * 800 + 10_000
  {
    form: "cached above the prompt",
    price: "flex large",
    currency: "USD",
    serviceTier: "flex",
    usage: { prompt_tokens: 2000, completion_tokens: 200, cached_tokens: 2400 },
    microcents: 210_000,
  },
  // 1_000 * 40 + 100 * 2_000
  {
    form: "cached above the prompt",
    price: "priority",
    currency: "USD",
    serviceTier: "priority",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 1200 },
    microcents: 240_000,
  },
  // 1_000 * 23 + 100 * 920
  {
    form: "cached above the prompt",
    price: "eur",
    currency: "EUR",
    serviceTier: "default",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 1200 },
    microcents: 115_000,
  },
  // 1_000 * 115 + 100 * 460
  {
    form: "cached above the prompt",
    price: "eur flex",
    currency: "EUR",
    serviceTier: "flex",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 1200 },
    microcents: 161_000,
  },
  // 1_000 * 23 + 100 * 920
  {
    form: "cached above the prompt",
    price: "unpriced",
    currency: "EUR",
    serviceTier: "scale",
    usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 1200 },
    microcents: 115_000,
  },
];
