-- How full the buckets of requests are now. Changes nothing.
--
-- KEYS[1] key record          KEYS[2] its bucket of requests  KEYS[3..] the next two …
-- ARGV    none
--
-- Reply: for each key {'bucket', remaining, capacity}, remaining in whole requests; {'missing'}: there is no record.

-- @include integer.lua
-- @include time.lua
-- @include bucket.lua

local now_us = now_microseconds()

local reply = {}
for position = 1, #KEYS, 2 do
  local rpm = tonumber(redis.call('HGET', KEYS[position], 'rpm') or '')
  if rpm then
    local capacity = request_capacity(rpm)
    local units = bucket_units(KEYS[position + 1], rpm, capacity, now_us)
    reply[#reply + 1] = { 'bucket', integer(math.floor(units / UNITS_PER_TOKEN)), integer(capacity) }
  else
    reply[#reply + 1] = { 'missing' }
  end
end
return reply
