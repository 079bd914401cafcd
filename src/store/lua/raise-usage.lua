-- Raises the usage row of a day, key and model, and the spend of its month with it, to what the log of requests says: for
-- a Redis that was restored from an older snapshot.
--
-- KEYS[1] spend of the month  KEYS[2] usage of the day     KEYS[3] open requests by deadline
-- ARGV[1] key id              ARGV[2] model                ARGV[3] when the month's figures expire, ms
-- ARGV[4..10] figures to raise to: requests, input, cached, output, reasoning tokens, estimated, microcents
--
-- Reply: {'raised', added microcents}; {'enough'}: nothing is missing; {'in_flight'}: requests of the organization are
--   under way, nothing was changed.
--
-- Keeps: spend and usage move by the same amount; no figure is ever lowered, so that a repeat changes nothing.

-- @include integer.lua
-- @include time.lua
-- @include requests.lua

local spend, usage, holds = KEYS[1], KEYS[2], KEYS[3]
local key_id, model, expires_at_ms, FIRST_FIGURE = ARGV[1], ARGV[2], ARGV[3], 4
local wanted = {}
for position = 1, #USAGE_FIGURES do
  wanted[position] = tonumber(ARGV[FIRST_FIGURE + position - 1])
end

if redis.call('ZCARD', holds) > 0 then
  return { 'in_flight' }
end

local from, to, is_raised = {}, {}, false
for position, figure in ipairs(USAGE_FIGURES) do
  from[position] = number_or_zero(redis.call('HGET', usage, key_id .. ':' .. model .. ':' .. figure))
  to[position] = math.max(from[position], wanted[position])
  is_raised = is_raised or to[position] > from[position]
end
if not is_raised then
  return { 'enough' }
end
move_usage(usage, key_id, model, from, to, expires_at_ms)
move_spend(spend, key_id, to[7] - from[7], expires_at_ms)
return { 'raised', integer(to[7] - from[7]) }
