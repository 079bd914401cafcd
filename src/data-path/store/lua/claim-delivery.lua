-- Claims the next alert that a channel of an organization has to deliver: one process at a time, in order.
--
-- KEYS[1] courier             KEYS[2] outbox
-- ARGV[1] owner: the process  ARGV[2] how long its lease lasts unless renewed, ms
--
-- Reply: {'idle'}: nothing to deliver; {'leased', wait ms}: by another process; {'waiting', wait ms}: until the next
--   attempt; {'claimed', entry id, now ms, failed attempts, progress, alert}: alert as field, value, field, value …
--
-- Guarantees: while a lease is renewed, no other process gets the entry.

-- @include integer.lua
-- @include time.lua
-- @include couriers.lua

-- @input

local now_ms = now_milliseconds()
local state = redis.call('HMGET', courier, 'cursor', 'owner', 'lease_until', 'next_at', 'attempts', 'progress')
local entry = next_entry(outbox, state[1])
if not entry then
  return { 'idle' }
end
local leased_ms = milliseconds_until(state[3], now_ms)
if state[2] and state[2] ~= owner and leased_ms > 0 then
  return { 'leased', integer(leased_ms) }
end
local wait_ms = milliseconds_until(state[4], now_ms)
if wait_ms > 0 then
  return { 'waiting', integer(wait_ms) }
end
redis.call('HSET', courier, 'owner', owner, 'lease_until', integer(now_ms + lease_ms))
return { 'claimed', entry[1], integer(now_ms), state[5] or '0', state[6] or '', entry[2] }
