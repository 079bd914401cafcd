-- Writes the record of a new user or group and puts it on its organization's lists, with its entry in the audit log.
--
-- KEYS[1] organization        KEYS[2] record              KEYS[3] list of all of its kind
-- KEYS[4] what they are found by                          KEYS[5] audit log
-- KEYS[6] users by who they are at whoever signs people in
-- KEYS[7..] record of the group that it is in, and the list of that group's users
-- ARGV[1] id      ARGV[2] most of its kind    ARGV[3] audit entry, '' for none
-- ARGV[4] digest of who it is at whoever signs people in, '' for none
-- ARGV[5] number of texts that it is found by             ARGV[6..] these, then field, value, field, value …
--
-- Reply: {'created'}; {'not_found'}: no such organization, or it is deleted, or there is a record with this id;
--   {'full'}: there are as many as there may be; {'group_missing'}; {'exists', id}: whoever it is already is this user.
--
-- Keeps: one user, at most, of those that are not deleted for whom there is a digest.

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
