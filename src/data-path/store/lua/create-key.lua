-- Writes the record of a new key, its entries in the lists of its organization and owners, and its entry in the
-- audit log.
--
-- KEYS[1] organization        KEYS[2] key record      KEYS[3] list of the organization's keys
-- KEYS[4] audit log           KEYS[5..] of each owner: record, list of its keys
-- ARGV[1] key id              ARGV[2] audit entry, '' for none
-- ARGV[3] field of the first owner's record that will name the key, '' for none: one key per owner
-- ARGV[4] deleted key that the field may still name, '' for none
-- ARGV[5] maximum on the list     ARGV[6..] field, value, field, value …
--
-- Reply: 1; -1 if the list is full; 0 if the organization does not exist or is deleted, or the id is
--   taken; otherwise the index in KEYS of the record of an owner that does not exist, or (text) the id that the
--   field of the owner's record names.

-- @include integer.lua
-- @include audit.lua
-- @include links.lua

-- @input
local FIRST_OWNER, FIRST_FIELD = FIRST_FURTHER_KEY, FIRST_FURTHER_ARGUMENT

local version, deleted_at = unpack(redis.call('HMGET', organization, 'version', 'deleted_at'))
if not version or (deleted_at or '') ~= '' or redis.call('EXISTS', key_record) == 1 then
  return 0
end
if redis.call('ZCARD', key_list) >= most then
  return -1
end
local missing = missing_owner(FIRST_OWNER)
if missing then
  return missing
end
if named_by ~= '' then
  local named = redis.call('HGET', KEYS[FIRST_OWNER], named_by)
  if named and named ~= replaced then
    return named
  end
  redis.call('HSET', KEYS[FIRST_OWNER], named_by, key_id)
end
redis.call('HSET', key_record, unpack(ARGV, FIRST_FIELD))
redis.call('ZADD', key_list, '0', key_id)
link(FIRST_OWNER, key_id)
add_audit(audit, audit_entry)
return 1
