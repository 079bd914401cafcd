-- What the channels of an organization are owed.
--
-- KEYS[1] outbox              KEYS[2..] couriers
-- ARGV    none
--
-- Reply: for each courier its next outbox entry or '', and in how many ms it may be tried. Changes nothing.

-- @include integer.lua
-- @include time.lua
-- @include couriers.lua

local outbox, FIRST_COURIER = KEYS[1], 2
local now_ms = now_milliseconds()

local reply = {}
for position = FIRST_COURIER, #KEYS do
  local state = redis.call('HMGET', KEYS[position], 'cursor', 'lease_until', 'next_at')
  local entry = next_entry(outbox, state[1])
  local wait_ms = math.max(milliseconds_until(state[2], now_ms), milliseconds_until(state[3], now_ms))
  reply[#reply + 1] = entry and entry[1] or ''
  reply[#reply + 1] = integer(wait_ms)
end
return reply
