-- Returns whether the organization's currency has changed since the request. This is only possible while Redis has
-- no trace of the request. `billed_in`: the organization's currency, false without an organization; `currency`: the
-- request's, '' if unknown.
local function is_other_currency(billed_in, currency)
  return currency ~= '' and billed_in and billed_in ~= currency
end

-- Error for a charge of such a request, which was admitted while Redis was unreachable.
local OTHER_CURRENCY = 'MISMATCH the organization is billed in another currency than this charge is in'
