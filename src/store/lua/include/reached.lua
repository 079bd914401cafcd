-- Whether a month's spend has come to where an alert may fire. It is asked at each charge, and the answer is nearly always no:
-- so it makes nothing but the comparison. thresholds.lua has what fires, and when. Of an organization that counts other
-- windows more is asked (limits.lua).

-- 80 % of a budget, 90 % of a hard cap: the first thresholds, in microcents. `record`: of a key or an organization.
local function is_reached(record, spent)
  local budget, hard_cap = read_amounts(record)
  budget, hard_cap = tonumber(budget or ''), tonumber(hard_cap or '')
  return (budget and spent >= budget * 800000) or (hard_cap and spent >= hard_cap * 900000)
end

-- Whether nothing can fire. What key and organization have spent: nil when nothing moved, so that it is not known.
local function are_alerts_far(key_record, organization, spend, key_id, key_spent, organization_spent)
  if not key_spent then
    local spent = redis.call('HMGET', spend, 'key:' .. key_id, 'organization')
    key_spent, organization_spent = number_or_zero(spent[1]), number_or_zero(spent[2])
  end
  return not is_reached(key_record, key_spent) and not is_reached(organization, organization_spent)
end
