-- Ends users or groups of an organization that was deleted; their records stay as long as its own.
--
-- KEYS[1] list of all of the kind         KEYS[2] what they are found by
-- KEYS[3] users by who they are at whoever signs people in
-- KEYS[4..] for each that ends: record, list of its keys, list of its users
-- ARGV[1] when the records expire, ms     ARGV[2..] their ids, in the order of the records
--
-- Reply: how many are left on the list. May be repeated.

-- @include integer.lua
-- @include time.lua

local list, found_by, by_identity = KEYS[1], KEYS[2], KEYS[3]
local expires_at_ms, FIRST_RECORD, FIRST_ID = ARGV[1], 4, 2

redis.call('UNLINK', found_by, by_identity)
local now_ms = integer(now_milliseconds())
for position = FIRST_ID, #ARGV do
  local place = FIRST_RECORD + (position - FIRST_ID) * 3
  local record, its_keys, its_users = unpack(KEYS, place, place + 2)
  if redis.call('EXISTS', record) == 1 then
    redis.call('HSET', record, 'deleted_at', now_ms)
    redis.call('HINCRBY', record, 'version', '1')
    redis.call('PEXPIREAT', record, expires_at_ms)
  end
  redis.call('UNLINK', its_keys, its_users)
  redis.call('ZREM', list, ARGV[position])
end
return redis.call('ZCARD', list)
