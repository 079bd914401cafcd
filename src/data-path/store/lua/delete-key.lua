-- Deletes a key: from now on none of its requests is admitted. Its record stays for the figures of its last months.
--
-- KEYS[1] key record          KEYS[2] list of the organization's keys      KEYS[3] bucket of requests
-- KEYS[4] bucket of count_tokens                           KEYS[5] audit log
-- KEYS[6..] lists of the keys of its owners
-- ARGV[1] key id              ARGV[2] when the record expires, ms         ARGV[3] audit entry, '' for none
-- ARGV[4] expected version, '' for any
--
-- Reply: {'changed', before, after} with the record before and after; {'not_found'}; {'version_conflict', record}.

-- @include integer.lua
-- @include time.lua
-- @include records.lua
-- @include audit.lua
-- @include links.lua
-- @include deleted.lua

-- @input
local FIRST_LIST = FIRST_FURTHER_KEY

local refused = refuse_change(key_record, expected_version)
if refused then
  return refused
end
local before = redis.call('HGETALL', key_record)
redis.call('HSET', key_record, 'deleted_at', integer(now_milliseconds()))
redis.call('HINCRBY', key_record, 'version', '1')
redis.call('PEXPIREAT', key_record, expires_at_ms)
bound_deleted(key_record, expires_at_ms)
redis.call('ZREM', key_list, key_id)
unlink(FIRST_LIST, #KEYS, key_id)
redis.call('DEL', request_bucket, count_bucket)
add_audit(audit, audit_entry)
return { 'changed', before, redis.call('HGETALL', key_record) }
