-- Rule of caps and budgets, the same as in src/shared/money/money.ts; a test compares both. Amounts are whole cents,
-- spend is microcents. A limit is at most 9 * 10^9 cents, 9 * 10^15 microcents: below 2^53, so exact. Spend beyond
-- 2^53 is inexact, but then exceeds any limit.
local MICROCENTS_PER_CENT = 1000000

-- Returns whether a limit is reached: spend is at least the limit. A limit of 0 is always reached.
local function is_reached(cents, spent)
  return spent >= cents * MICROCENTS_PER_CENT
end

-- Returns what is left of a limit, below 0 if it is exceeded.
local function remaining_of(cents, taken)
  return cents * MICROCENTS_PER_CENT - taken
end

-- Returns whether this percentage of a limit is spent, for alerts before it is reached.
local function is_share_reached(cents, percent, spent)
  return spent >= cents * percent * (MICROCENTS_PER_CENT / 100)
end
