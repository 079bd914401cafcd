-- Reads the limits that apply to a key, to users and groups and to their organization, with the spend in their
-- current windows.
--
-- KEYS[1] organization        KEYS[2] key record (the organization's again without a key)
-- ARGV[1] key id or ''        ARGV[2] owners, '' for none     ARGV[3] month
-- ARGV[4] month's start, ms   ARGV[5] month's end (exclusive), ms
--
-- Reply: {'month_changed', time ms}: TIME is outside of the month; JSON of {'read', time ms, limits}, for each limit
--   {scope, period, kind, cents, raised cents, spent}, narrowest scope first.

-- @include integer.lua
-- @include lists.lua
-- @include time.lua
-- @include owners.lua
-- @include windows.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua

-- @input

local now_ms = now_milliseconds()
if now_ms < month_start_ms or now_ms >= month_end_ms then
  return write_list({ 'month_changed', integer(now_ms) })
end
local windows, rows = windows_of(math.floor(now_ms / 86400000), month), {}
for _, limit in ipairs(read_limits(organization, key_id ~= '' and key_record or nil, key_id, owners, now_ms)) do
  local spent = redis.call('HGET', sibling(organization, 'spend:' .. windows[limit.period]), limit.subject)
  rows[#rows + 1] = { limit.scope, limit.period, limit.kind == 'budget' and 'budget' or 'cap', integer(limit.cents),
    integer(limit.raised), spent or '0' }
end
-- cjson would encode an empty table as an object.
return #rows == 0 and '["read","' .. integer(now_ms) .. '",[]]' or write_list({ 'read', integer(now_ms), rows })
