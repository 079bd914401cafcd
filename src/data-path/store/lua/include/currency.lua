-- Whether a request is in another currency than its organization is billed in by now: nothing of it stood here when that was
-- changed. `billed_in`: false where there is no organization; `currency`: '' when not known.
local function is_other_currency(billed_in, currency)
  return currency ~= '' and billed_in and billed_in ~= currency
end

-- Of a charge of such a request, which was admitted while Redis was out of reach.
local OTHER_CURRENCY = 'MISMATCH the organization is billed in another currency than this charge is in'
