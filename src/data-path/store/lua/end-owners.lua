-- Deletes users or groups of a deleted organization; their records stay as long as the organization's.
--
-- KEYS[1] list of all of the kind         KEYS[2] their search entries
-- KEYS[3] users by external identity
-- KEYS[4..] for each of them: record, list of its keys, list of its users
-- ARGV[1] when the records expire, ms     ARGV[2..] their ids, in the order of the records
--
-- Reply: how many are left on the list. May be repeated.

-- @include integer.lua
-- @include time.lua

-- @input
local ids = { unpack(ARGV, FIRST_FURTHER_ARGUMENT) }

redis.call('UNLINK', found_by, by_identity)
local now_ms = integer(now_milliseconds())
for position, id in ipairs(ids) do
  local place = FIRST_FURTHER_KEY + 3 * (position - 1)
-- @row ended-owner KEYS place
  if redis.call('EXISTS', record) == 1 then
    redis.call('HSET', record, 'deleted_at', now_ms)
    redis.call('HINCRBY', record, 'version', '1')
    redis.call('PEXPIREAT', record, expires_at_ms)
  end
  redis.call('UNLINK', its_keys, its_users)
  redis.call('ZREM', list, id)
end
return redis.call('ZCARD', list)
