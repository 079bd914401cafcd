-- Changes the record of a user or a group, and its search entries. A new limit may be below the current spend.
--
-- KEYS[1] record      KEYS[2] search entries of all of its kind       KEYS[3] audit log    KEYS[4] organization
-- KEYS[5..] lists of users of groups that it leaves, then of each group that it joins: record, list of its users
-- ARGV[1] expected version, '' for any                    ARGV[2] id          ARGV[3] number of lists that it leaves
-- ARGV[4] audit entry, '' for none                        ARGV[5] number of search entries to remove
-- ARGV[6] number of search entries to add
-- ARGV[7] month       ARGV[8] month's start, ms      ARGV[9] month's end (exclusive), ms
-- ARGV[10..] entries to remove, entries to add, then field, value, field, value …
--
-- Reply: {'month_changed', time ms}: TIME is outside of the month, nothing was changed; {'changed', before, after, alerts
--   fired} with the record before and after; {'not_found'}; {'version_conflict', record};
--   {'group_missing'}.

-- @include integer.lua
-- @include time.lua
-- @include records.lua
-- @include audit.lua
-- @include links.lua
-- @include owners.lua
-- @include windows.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include cap-rule.lua
-- @include thresholds.lua

-- @input
local FIRST_LIST, FIRST_TEXT = FIRST_FURTHER_KEY, FIRST_FURTHER_ARGUMENT
local first_owner = FIRST_LIST + previous_lists
local first_new_text = FIRST_TEXT + removed_texts
local first_field = first_new_text + new_texts

local now_ms = now_milliseconds()
if now_ms < month_start_ms or now_ms >= month_end_ms then
  return { 'month_changed', integer(now_ms) }
end
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
add_audit(audit, audit_entry)
reply[4] = fire_alerts(organization, nil, '', id, windows_of(math.floor(now_ms / 86400000), month))
return reply
