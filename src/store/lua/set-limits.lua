-- Changes a key's record. A new rate refills both buckets at the old rate first and keeps the fraction that was full.
--
-- KEYS[1] key record          KEYS[2] bucket of requests      KEYS[3] bucket of count_tokens
-- ARGV[1] expected version, '' for any                        ARGV[2..] field, value, field, value …
--
-- Reply: {'changed', record before, record after}; {'not_found'}; {'version_conflict', record}.
--
-- Keeps: a bucket's units are an integer between 0 and capacity * 60,000,000.

-- @include integer.lua
-- @include time.lua
-- @include bucket.lua
-- @include records.lua

local key_record, request_bucket, count_bucket = KEYS[1], KEYS[2], KEYS[3]
local expected_version, FIRST_FIELD = ARGV[1], 2

-- floor(units * new / old) without the product, which would be beyond 2^53.
local function scale(units, new, old)
  local whole = math.floor(units / old)
  return whole * new + math.floor((units - whole * old) * new / old)
end

local function rescale(bucket, old_rpm, new_rpm, capacity_of, now_us)
  local old_capacity = capacity_of(old_rpm)
  local units = bucket_units(bucket, old_rpm, old_capacity, now_us)
  write_bucket(bucket, scale(units, capacity_of(new_rpm), old_capacity), now_us)
end

local refused = refuse_change(key_record, expected_version)
if refused then
  return refused
end
local new_rpm = tonumber(changed_value('rpm', FIRST_FIELD) or '')
if new_rpm then
  local old_rpm, now_us = tonumber(redis.call('HGET', key_record, 'rpm')), now_microseconds()
  if old_rpm ~= new_rpm then
    rescale(request_bucket, old_rpm, new_rpm, request_capacity, now_us)
    rescale(count_bucket, old_rpm, new_rpm, count_capacity, now_us)
  end
end
-- Alert thresholds of the key are tested here: an amount may be under what is spent now.
return change_record(key_record, FIRST_FIELD)
