-- Of a charge for whose request nothing stood here when the currency was changed: admitted while Redis was out of reach.
local OTHER_CURRENCY = 'MISMATCH the organization is billed in another currency than this charge is in'

local function is_other_currency(organization, currency)
  local billed_in = currency ~= '' and redis.call('HGET', organization, 'currency')
  return billed_in and billed_in ~= currency
end
