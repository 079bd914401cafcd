-- Changes the record of a user or a group, and what it is found by.
--
-- KEYS[1] record      KEYS[2] what all of its kind are found by       KEYS[3] audit log
-- KEYS[4..] lists of users of groups that it leaves, then of each group that it joins: record, list of its users
-- ARGV[1] expected version, '' for any                    ARGV[2] id          ARGV[3] number of lists that it leaves
-- ARGV[4] audit entry, '' for none                        ARGV[5] number of texts that it is found by no more
-- ARGV[6] number of texts that it is found by from now on
-- ARGV[7..] the former, the latter, then field, value, field, value …
--
-- Reply: {'changed', before, after} with the record as it was and as it is; {'not_found'}; {'version_conflict', record};
--   {'group_missing'}.

-- @include records.lua
-- @include audit.lua
-- @include links.lua

local record, found_by, audit = KEYS[1], KEYS[2], KEYS[3]
local expected_version, id, entry = ARGV[1], ARGV[2], ARGV[4]
local FIRST_LIST, FIRST_TEXT = 4, 7
local first_owner = FIRST_LIST + tonumber(ARGV[3])
local first_new_text = FIRST_TEXT + tonumber(ARGV[5])
local first_field = first_new_text + tonumber(ARGV[6])

local refused = refuse_change(record, expected_version)
if refused then
  return refused
end
if missing_owner(first_owner) then
  return { 'group_missing' }
end
unlink(FIRST_LIST, first_owner - 1, id)
link(first_owner, id)
for position = FIRST_TEXT, first_new_text - 1 do
  redis.call('ZREM', found_by, ARGV[position])
end
for position = first_new_text, first_field - 1 do
  redis.call('ZADD', found_by, '0', ARGV[position])
end
local reply = change_record(record, first_field)
add_audit(audit, entry)
return reply
