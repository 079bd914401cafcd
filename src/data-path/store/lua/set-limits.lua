-- Changes a key's record and its owners. A new rate first refills both buckets at the old rate, then keeps their
-- fill fraction.
--
-- KEYS[1] key record          KEYS[2] bucket of requests      KEYS[3] bucket of count_tokens
-- KEYS[4] organization        KEYS[5] audit log
-- KEYS[6..] lists of keys of its previous owners, then for each new owner: record, list of its keys
-- ARGV[1] expected version, '' for any                        ARGV[2] key id      ARGV[3] month
-- ARGV[4] month's start, ms   ARGV[5] month's end (exclusive), ms
-- ARGV[6] audit entry, '' for none                            ARGV[7] number of lists that it leaves
-- ARGV[8..] field, value, field, value …
--
-- Reply: {'month_changed', time ms}: TIME is outside of the month, nothing was changed; {'changed', before, after,
--   alerts fired} with the record before and after; {'not_found'}; {'version_conflict', record};
--   {'owner_missing', place}: index in KEYS of the record of an owner that does not exist.
--
-- Guarantees: a bucket's units are an integer between 0 and capacity * 60,000,000.

-- @include integer.lua
-- @include time.lua
-- @include bucket.lua
-- @include records.lua
-- @include audit.lua
-- @include owners.lua
-- @include windows.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include cap-rule.lua
-- @include thresholds.lua
-- @include links.lua

-- @input
local FIRST_LIST, FIRST_FIELD = FIRST_FURTHER_KEY, FIRST_FURTHER_ARGUMENT
local first_owner = FIRST_LIST + previous_lists

-- Returns floor(units * new / old) without the product, which would exceed 2^53.
local function scale(units, new, old)
  local whole = math.floor(units / old)
  return whole * new + math.floor((units - whole * old) * new / old)
end

local function rescale(bucket, old_rate, new_rate, capacity_of, now_us)
  local old_capacity = capacity_of(old_rate)
  local at, changed, used = unpack(redis.call('HMGET', bucket, 'at', 'changed', 'used'))
  -- A bucket that nothing was taken from is full at any rate.
  if at then
    local units = bucket_units(bucket, old_rate, old_capacity, now_us)
    write_bucket(bucket, scale(units, capacity_of(new_rate), old_capacity), now_us, 'changed', integer(now_us), 'used',
      at == changed and used or at)
  end
end

local now_ms = now_milliseconds()
if now_ms < month_start_ms or now_ms >= month_end_ms then
  return { 'month_changed', integer(now_ms) }
end
local refused = refuse_change(key_record, expected_version)
if refused then
  return refused
end
local missing = missing_owner(first_owner)
if missing then
  return { 'owner_missing', integer(missing) }
end
local new_rate = tonumber(changed_value(RATE_FIELD, FIRST_FIELD) or '')
if new_rate then
  local old_rate, now_us = tonumber(redis.call('HGET', key_record, RATE_FIELD)), now_microseconds()
  if old_rate ~= new_rate then
    rescale(request_bucket, old_rate, new_rate, request_capacity, now_us)
    rescale(count_bucket, old_rate, new_rate, count_capacity, now_us)
  end
end
local reply = change_record(key_record, FIRST_FIELD)
unlink(FIRST_LIST, first_owner - 1, key_id)
link(first_owner, key_id)
add_audit(audit, audit_entry)
-- A new amount may be below the current spend.
reply[4] = fire_alerts(organization, key_record, key_id, '', windows_of(math.floor(now_ms / 86400000), month))
return reply
