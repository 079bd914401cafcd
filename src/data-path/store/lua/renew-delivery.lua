-- Renews the lease of a process that delivers.
--
-- KEYS[1] courier
-- ARGV[1] owner               ARGV[2] how long its lease lasts unless renewed, ms
--
-- Reply: {'renewed'}; {'lost'}: another process has taken over.

-- @include integer.lua
-- @include time.lua

-- @input

if redis.call('HGET', courier, 'owner') ~= owner then
  return { 'lost' }
end
redis.call('HSET', courier, 'lease_until', integer(now_milliseconds() + lease_ms))
return { 'renewed' }
