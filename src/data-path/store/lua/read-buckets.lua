-- Reads how full the buckets of requests and of tokens are. Changes nothing.
--
-- KEYS[1] key record          KEYS[2] its bucket of requests  KEYS[3..] the next two …
-- ARGV    none
--
-- Reply: for each key {'bucket', remaining, capacity, tokens, last used ms}, remaining in whole requests, tokens as formatted
--   by format-token-buckets.lua, last used '' for never; {'missing'}: no record.

-- @include integer.lua
-- @include time.lua
-- @include bucket.lua
-- @include token-units.lua

-- Time at which a request last took from the bucket, ms; '' for never. A change of the rate also writes `at`, and keeps the
-- time before in `used`.
local function last_used_ms(bucket)
  local at, changed, used = unpack(redis.call('HMGET', bucket, 'at', 'changed', 'used'))
  local last = at and at == changed and used or at
  return last and integer(math.floor(tonumber(last) / 1000)) or ''
end

local now_us = now_microseconds()
local now_ms = math.floor(now_us / 1000)

local reply = {}
for position = 1, #KEYS, 2 do
-- @row bucket-keys KEYS position
  local rate_text, limits = unpack(redis.call('HMGET', key_record, RATE_FIELD, 'token_limits'))
  local rate = tonumber(rate_text or '')
  if rate then
    local capacity = request_capacity(rate)
    local buckets, levels, scope, hash, stored_units, stored_at = {}, '', 'key', request_bucket, nil, nil
    if (limits or '') ~= '' then
-- @include token-buckets.lua
-- @include format-token-buckets.lua
    end
    local units = bucket_units(hash, rate, capacity, now_us, stored_units, stored_at)
    local last_used = last_used_ms(request_bucket)
    reply[#reply + 1] = { 'bucket', integer(math.floor(units / UNITS_PER_TOKEN)), integer(capacity), levels, last_used }
  else
    reply[#reply + 1] = { 'missing' }
  end
end
return reply
