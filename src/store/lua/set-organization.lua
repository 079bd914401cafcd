-- Changes an organization's record. Its currency cannot be changed once there is spend or a request in flight.
--
-- KEYS[1] organization        KEYS[2] holds       KEYS[3..] spend of each month that can have some
-- ARGV[1] expected version, '' for any            ARGV[2..] field, value, field, value …
--
-- Reply: {'changed', record before, record after}; {'not_found'}; {'version_conflict', record};
--   {'currency_locked', record}.

-- @include records.lua

local organization, holds = KEYS[1], KEYS[2]
local expected_version, FIRST_FIELD, FIRST_MONTH = ARGV[1], 2, 3

local function has_spend()
  if redis.call('ZCARD', holds) > 0 then
    return true
  end
  for position = FIRST_MONTH, #KEYS do
    if redis.call('EXISTS', KEYS[position]) == 1 then
      return true
    end
  end
  return false
end

local refused = refuse_change(organization, expected_version)
if refused then
  return refused
end
local currency = changed_value('currency', FIRST_FIELD)
if currency and currency ~= redis.call('HGET', organization, 'currency') and has_spend() then
  return { 'currency_locked', redis.call('HGETALL', organization) }
end
-- Alert thresholds of the organization are tested here: an amount may be under what is spent now.
return change_record(organization, FIRST_FIELD)
