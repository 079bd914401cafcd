-- The rule of caps and budgets, which src/shared/money/money.ts says as well; a test holds both equal. Amounts in whole cents, spend in
-- microcents. A limit is at most 9 * 10^9 cents, 9 * 10^15 microcents: below 2^53, so exact. Spend beyond 2^53 is read
-- inexactly, but then it is beyond any limit.
local MICROCENTS_PER_CENT = 1000000

-- A limit is reached once as much is spent as it allows, one of 0 always.
local function is_reached(cents, spent)
  return spent >= cents * MICROCENTS_PER_CENT
end

-- What a limit leaves beside so much: below 0 where it is passed.
local function room_under(cents, taken)
  return cents * MICROCENTS_PER_CENT - taken
end

-- Whether so many percent of a limit are spent: whoever is told of it before it is reached.
local function is_share_reached(cents, percent, spent)
  return spent >= cents * percent * (MICROCENTS_PER_CENT / 100)
end
