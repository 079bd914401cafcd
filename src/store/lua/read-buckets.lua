-- How full the buckets of requests and of tokens are now. Changes nothing.
--
-- KEYS[1] key record          KEYS[2] its bucket of requests  KEYS[3] its buckets of tokens   KEYS[4..] the next three …
-- ARGV    none
--
-- Reply: for each key {'bucket', remaining, capacity, tokens}, remaining in whole requests, tokens as token-buckets.lua tells
--   them; {'missing'}: there is no record.

-- @include integer.lua
-- @include time.lua
-- @include bucket.lua
-- @include token-units.lua
-- @include token-buckets.lua

local now_us = now_microseconds()
local now_ms = math.floor(now_us / 1000)

local reply = {}
for position = 1, #KEYS, 3 do
  local rpm_text, total, input, output = unpack(redis.call('HMGET', KEYS[position], 'rpm', 'tpm', 'input_tpm', 'output_tpm'))
  local rpm = tonumber(rpm_text or '')
  if rpm then
    local capacity = request_capacity(rpm)
    local units = bucket_units(KEYS[position + 1], rpm, capacity, now_us)
    local tokens = {}
    if (total or '') ~= '' or (input or '') ~= '' or (output or '') ~= '' then
      read_token_buckets(tokens, 'key', KEYS[position + 2], { total, input, output }, now_ms)
    end
    reply[#reply + 1] = { 'bucket', integer(math.floor(units / UNITS_PER_TOKEN)), integer(capacity),
      tell_token_buckets(tokens) }
  else
    reply[#reply + 1] = { 'missing' }
  end
end
return reply
