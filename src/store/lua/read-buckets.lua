-- How full the buckets of requests are now. Changes nothing.
--
-- KEYS[1] key record          KEYS[2] its bucket of requests  KEYS[3..] the next two …
-- ARGV    none
--
-- Reply: for each key whole requests that are left and the capacity, '' and '' where there is no record.

-- @include integer.lua
-- @include time.lua
-- @include bucket.lua

local now_us = now_microseconds()

local reply = {}
for position = 1, #KEYS, 2 do
  local rpm = tonumber(redis.call('HGET', KEYS[position], 'rpm') or '')
  local capacity = rpm and request_capacity(rpm)
  local units = rpm and bucket_units(KEYS[position + 1], rpm, capacity, now_us)
  reply[#reply + 1] = units and integer(math.floor(units / UNITS_PER_TOKEN)) or ''
  reply[#reply + 1] = capacity and integer(capacity) or ''
end
return reply
