-- Deletes an organization: from now on none of its keys is admitted, and its alerts end. Its record stays for the
-- figures of its last months.
--
-- KEYS[1] organization        KEYS[2] outbox of alerts    KEYS[3] audit log
-- KEYS[4..] lists for people that expire with the record
-- ARGV[1] expected version, '' for any                    ARGV[2] when the record expires, ms
-- ARGV[3] audit entry, '' for none                        ARGV[4..] field, value, field, value …
--
-- Reply: {'changed', before, after} with the record before and after; {'not_found'}; {'version_conflict', record}.
--
-- Requests in flight are still charged: charges need nothing that is deleted here.

-- @include integer.lua
-- @include time.lua
-- @include records.lua
-- @include audit.lua

-- @input
local expiring_lists = { unpack(KEYS, FIRST_FURTHER_KEY) }
local FIRST_FIELD = FIRST_FURTHER_ARGUMENT

local refused = refuse_change(organization, expected_version)
if refused then
  return refused
end
local reply = change_record(organization, FIRST_FIELD)
redis.call('HSET', organization, 'deleted_at', integer(now_milliseconds()))
reply[3] = redis.call('HGETALL', organization)
redis.call('DEL', outbox)
add_audit(audit, audit_entry)
redis.call('PEXPIREAT', organization, expires_at_ms)
for _, name in ipairs(expiring_lists) do
  redis.call('PEXPIREAT', name, expires_at_ms)
end
return reply
