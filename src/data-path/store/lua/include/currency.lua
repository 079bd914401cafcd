-- Returns whether a request's currency is no longer its organization's; the currency can only change if Redis has
-- nothing of the request. `billed_in`: false without an organization; `currency`: '' if unknown.
local function is_other_currency(billed_in, currency)
  return currency ~= '' and billed_in and billed_in ~= currency
end

-- Error for a charge of such a request, which was admitted while Redis was unreachable.
local OTHER_CURRENCY = 'MISMATCH the organization is billed in another currency than this charge is in'
