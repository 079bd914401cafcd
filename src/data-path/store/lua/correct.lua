-- Adds a signed amount to this month's spend and to today's usage: a correction by a person.
--
-- KEYS[1] organization        KEYS[2] key record (the organization's again without a key)
-- KEYS[3] spend of the month  KEYS[4] usage of the day        KEYS[5] marker of this correction
-- KEYS[6] audit log
-- ARGV[1] day's start, ms     ARGV[2] day's end (exclusive), ms    ARGV[3] month       ARGV[4] key id or ''
-- ARGV[5] amount, microcents, signed                          ARGV[6] when the month's figures expire, ms
-- ARGV[7] audit entry, '' for none                            ARGV[8] details to store in the marker
-- ARGV[9] further owners of the spend, '' for none: the caller has checked that they exist
--
-- Reply: {'day_changed', time ms}: TIME is outside of the day, nothing was changed; {'not_found'};
--   {'applied' or 'repeated', month, organization spent, key spent, alerts fired, stored}: `stored` is the content of the marker,
--   for a repeat that of the first correction.
--
-- Guarantees: spend in all windows and usage change by the same amount; the same marker counts once for as long as the month's figures
-- are kept.

-- @include integer.lua
-- @include time.lua
-- @include spend.lua
-- @include owners.lua
-- @include windows.lua
-- @include counters.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include cap-rule.lua
-- @include thresholds.lua
-- @include audit.lua

-- @input

local now_ms = now_milliseconds()
if now_ms < day_start_ms or now_ms >= day_end_ms then
  return { 'day_changed', integer(now_ms) }
end
if redis.call('EXISTS', organization) == 0 or redis.call('EXISTS', key_record) == 0 then
  return { 'not_found' }
end

local outcome, fired = 'repeated', '0'
if redis.call('SET', marker, stored, 'NX', 'PXAT', expires_at_ms) then
  outcome = 'applied'
  local row = usage_row(key_id, owners, '', '')
  local day = string.match(usage, '[^:]+$')
  local windows, seeding, sums_until = unpack(redis.call('HMGET', organization, 'windows', 'windows_seeding', 'sums_until'))
  delete_sums(usage, day, sums_until)
  redis.call('HINCRBY', usage, row .. 'microcents', amount)
  expire_at(usage, expires_at_ms)
  move_spend(organization, windows, seeding, day, subjects_of(key_id, owners), row, amount, expires_at_ms)
  fired = fire_alerts(organization, key_id ~= '' and key_record or nil, key_id, owners, windows_of(day_number(day), month))
  add_audit(audit, audit_entry)
else
  stored = redis.call('GET', marker)
end
local organization_spent = redis.call('HGET', spend, 'organization') or '0'
local key_spent = key_id ~= '' and (redis.call('HGET', spend, 'key:' .. key_id) or '0') or ''
return { outcome, month, organization_spent, key_spent, fired, stored }
