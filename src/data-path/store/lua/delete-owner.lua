-- Deletes a user or a group: from now on nothing can belong to it. Its record stays for the figures of its last
-- months.
--
-- KEYS[1] record      KEYS[2] list of all of its kind     KEYS[3] their search entries          KEYS[4] audit log
-- KEYS[5] list of its keys    KEYS[6] list of its users, of a group
-- KEYS[7] users by external identity
-- KEYS[8..] lists of users of groups that it leaves
-- ARGV[1] expected version, '' for any                    ARGV[2] id      ARGV[3] when the record expires, ms
-- ARGV[4] '1': reject if it has keys        ARGV[5] audit entry, '' for none
-- ARGV[6] digest of its external identity, '' for none
-- ARGV[7..] its search entries
--
-- Reply: {'changed', before, after} with the record before and after; {'not_found'}; {'version_conflict', record};
--   {'has_keys'}.

-- @include integer.lua
-- @include time.lua
-- @include records.lua
-- @include audit.lua
-- @include links.lua
-- @include deleted.lua

-- @input
local FIRST_LIST, FIRST_TEXT = FIRST_FURTHER_KEY, FIRST_FURTHER_ARGUMENT

local refused = refuse_change(record, expected_version)
if refused then
  return refused
end
if is_without_keys and redis.call('ZCARD', its_keys) > 0 then
  return { 'has_keys' }
end
local before = redis.call('HGETALL', record)
redis.call('HSET', record, 'deleted_at', integer(now_milliseconds()))
redis.call('HINCRBY', record, 'version', '1')
redis.call('PEXPIREAT', record, expires_at_ms)
bound_deleted(record, expires_at_ms)
redis.call('ZREM', list, id)
if identity ~= '' and redis.call('HGET', by_identity, identity) == id then
  redis.call('HDEL', by_identity, identity)
end
for position = FIRST_TEXT, #ARGV do
  redis.call('ZREM', found_by, ARGV[position])
end
unlink(FIRST_LIST, #KEYS, id)
-- A group may have many: UNLINK frees them in the background.
redis.call('UNLINK', its_keys, its_users)
add_audit(audit, audit_entry)
return { 'changed', before, redis.call('HGETALL', record) }
