-- Lists the outstanding deliveries of an organization's channels.
--
-- KEYS[1] outbox              KEYS[2..] couriers
-- ARGV    none
--
-- Reply: for each courier {'pending', entry id, wait ms}: the next one in the outbox, and in how long it may be tried;
--   {'idle'}: nothing to deliver. Changes nothing.

-- @include integer.lua
-- @include time.lua
-- @include couriers.lua

-- @input
local FIRST_COURIER = FIRST_FURTHER_KEY
local now_ms = now_milliseconds()

local reply = {}
for position = FIRST_COURIER, #KEYS do
  local state = redis.call('HMGET', KEYS[position], 'cursor', 'lease_until', 'next_at')
  local entry = next_entry(outbox, state[1])
  local wait_ms = math.max(milliseconds_until(state[2], now_ms), milliseconds_until(state[3], now_ms))
  reply[#reply + 1] = entry and { 'pending', entry[1], integer(wait_ms) } or { 'idle' }
end
return reply
