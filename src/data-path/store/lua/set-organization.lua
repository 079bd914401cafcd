-- Changes an organization's record. Its currency cannot be changed once there is spend or a request in flight.
--
-- KEYS[1] organization        KEYS[2] open requests       KEYS[3] audit log
-- KEYS[4..] spend of each kept month, newest first
-- ARGV[1] expected version, '' for any            ARGV[2] month
-- ARGV[3] month's start, ms   ARGV[4] month's end (exclusive), ms
-- ARGV[5] audit entry, '' for none
-- ARGV[6..] field, value, field, value …
--
-- Reply: {'month_changed', time ms}: TIME is outside of the month, nothing was changed; {'changed', before, after,
--   alerts fired} with the record before and after; {'not_found'}; {'version_conflict', record}; {'currency_locked', record}.

-- @include integer.lua
-- @include time.lua
-- @include records.lua
-- @include audit.lua
-- @include owners.lua
-- @include windows.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include cap-rule.lua
-- @include thresholds.lua

-- @input
local FIRST_FIELD, FIRST_MONTH = FIRST_FURTHER_ARGUMENT, FIRST_FURTHER_KEY

-- Returns whether the organization has any spend. The spend of months expires, the total never does.
local function has_spend()
  if redis.call('ZCARD', open_requests) > 0 or redis.call('HEXISTS', sibling(organization, 'spend:total'), 'organization') == 1 then
    return true
  end
  for position = FIRST_MONTH, #KEYS do
    if redis.call('EXISTS', KEYS[position]) == 1 then
      return true
    end
  end
  return false
end

local now_ms = now_milliseconds()
if now_ms < month_start_ms or now_ms >= month_end_ms then
  return { 'month_changed', integer(now_ms) }
end
local refused = refuse_change(organization, expected_version)
if refused then
  return refused
end
local currency = changed_value('currency', FIRST_FIELD)
if currency and currency ~= redis.call('HGET', organization, 'currency') and has_spend() then
  return { 'currency_locked', redis.call('HGETALL', organization) }
end
local reply = change_record(organization, FIRST_FIELD)
add_audit(audit, audit_entry)
-- A new amount may be below the current spend.
reply[4] = fire_alerts(organization, nil, '', '', windows_of(math.floor(now_ms / 86400000), month))
return reply
