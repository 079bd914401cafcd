-- Adds a signed amount to this month's spend and to the usage of today: a correction made by a person.
--
-- KEYS[1] organization        KEYS[2] key record (the organization's again when no key is meant)
-- KEYS[3] spend of the month  KEYS[4] usage of the day        KEYS[5] marker of this correction
-- ARGV[1] day's start, ms     ARGV[2] day's end (exclusive), ms    ARGV[3] month       ARGV[4] key id or ''
-- ARGV[5] amount, microcents, signed                          ARGV[6] when the month's figures expire, ms
--
-- Reply: {'day_changed', time ms}: TIME is outside of the day, nothing was changed; {'not_found'};
--   {'applied' or 'repeated', month, spent by the organization, spent by the key or ''}.
--
-- Keeps: spend and usage move by the same amount; the same marker counts once in seven days.

-- @include integer.lua
-- @include time.lua
-- @include requests.lua

local organization, key_record, spend, usage, marker = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local day_start_ms, day_end_ms, month = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local key_id, amount, expires_at_ms = ARGV[4], ARGV[5], ARGV[6]

local now_ms = now_milliseconds()
if now_ms < day_start_ms or now_ms >= day_end_ms then
  return { 'day_changed', integer(now_ms) }
end
if redis.call('EXISTS', organization) == 0 or redis.call('EXISTS', key_record) == 0 then
  return { 'not_found' }
end

local outcome = 'repeated'
if redis.call('SET', marker, month, 'NX', 'PX', CLOSED_RECORD_MS) then
  outcome = 'applied'
  redis.call('HINCRBY', spend, 'organization', amount)
  if key_id ~= '' then
    redis.call('HINCRBY', spend, 'key:' .. key_id, amount)
  end
  redis.call('HINCRBY', usage, key_id .. '::microcents', amount)
  keep_until(spend, expires_at_ms)
  keep_until(usage, expires_at_ms)
  -- Alert thresholds of the key and the organization are tested here.
end
local organization_spent = redis.call('HGET', spend, 'organization') or '0'
local key_spent = key_id ~= '' and (redis.call('HGET', spend, 'key:' .. key_id) or '0') or ''
return { outcome, month, organization_spent, key_spent }
