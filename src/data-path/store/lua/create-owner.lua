-- Writes the record of a new user or group, its list and search entries, and its entry in the audit log.
--
-- KEYS[1] organization        KEYS[2] record              KEYS[3] list of all of its kind
-- KEYS[4] their search entries                          KEYS[5] audit log
-- KEYS[6] users by external identity
-- KEYS[7..] record of the group that it is in, and the list of that group's users
-- ARGV[1] id      ARGV[2] maximum of its kind    ARGV[3] audit entry, '' for none
-- ARGV[4] digest of its external identity, '' for none
-- ARGV[5] number of its search entries             ARGV[6..] these, then field, value, field, value …
--
-- Reply: {'created'}; {'not_found'}: the organization does not exist or is deleted, or the id is taken;
--   {'full'}: the list is full; {'group_missing'}; {'exists', id}: the identity already is this user.
--
-- Guarantees: at most one user that is not deleted per digest.

-- @include integer.lua
-- @include audit.lua
-- @include links.lua

-- @input
local FIRST_OWNER, FIRST_TEXT = FIRST_FURTHER_KEY, FIRST_FURTHER_ARGUMENT

local version, deleted_at = unpack(redis.call('HMGET', organization, 'version', 'deleted_at'))
if not version or (deleted_at or '') ~= '' or redis.call('EXISTS', record) == 1 then
  return { 'not_found' }
end
local known = identity ~= '' and redis.call('HGET', by_identity, identity)
if known then
  return { 'exists', known }
end
if redis.call('ZCARD', list) >= most then
  return { 'full' }
end
if missing_owner(FIRST_OWNER) then
  return { 'group_missing' }
end
redis.call('HSET', record, unpack(ARGV, FIRST_TEXT + texts))
redis.call('ZADD', list, '0', id)
if identity ~= '' then
  redis.call('HSET', by_identity, identity, id)
end
for position = FIRST_TEXT, FIRST_TEXT + texts - 1 do
  redis.call('ZADD', found_by, '0', ARGV[position])
end
link(FIRST_OWNER, id)
add_audit(audit, audit_entry)
return { 'created' }
