-- Writes the record of a new key and puts it on its organization's list, with its entry in the audit log.
--
-- KEYS[1] organization        KEYS[2] key record      KEYS[3] list of the organization's keys
-- KEYS[4] audit log
-- ARGV[1] key id              ARGV[2] audit entry, '' for none        ARGV[3..] field, value, field, value …
--
-- Reply: 1; 0 when there is no such organization, or it is deleted, or there is a record with this id.

-- @include audit.lua

local organization, key_record, key_list, audit = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local key_id, entry = ARGV[1], ARGV[2]

local version, deleted_at = unpack(redis.call('HMGET', organization, 'version', 'deleted_at'))
if not version or (deleted_at or '') ~= '' or redis.call('EXISTS', key_record) == 1 then
  return 0
end
redis.call('HSET', key_record, unpack(ARGV, 3))
redis.call('ZADD', key_list, '0', key_id)
add_audit(audit, entry)
return 1
