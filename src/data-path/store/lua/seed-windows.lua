-- Adds what some usage rows of a day had cost before their organization began to count a period: what they have cost until now
-- without what has moved since. Each row once, however often and by however many it is asked for.
--
-- KEYS[1] organization        KEYS[2] usage of the day        KEYS[3] what of the period is seeded
-- ARGV[1] period              ARGV[2] day
-- ARGV[3..] rows, see usage_row
--
-- Reply: how many were added; -1: the period is whole already.

-- @include integer.lua
-- @include owners.lua
-- @include counters.lua

-- @input
local FIRST_ROW = FIRST_FURTHER_ARGUMENT

if not string.find(redis.call('HGET', organization, 'windows_seeding') or '', period .. '=', 1, true) then
  return -1
end
local added = 0
for position = FIRST_ROW, #ARGV do
  local row = ARGV[position]
  local name = day .. ' ' .. row
  if redis.call('HSETNX', seed, 'done ' .. name, '1') == 1 then
    local total, moved = redis.call('HGET', usage, row .. 'microcents'), redis.call('HGET', seed, name)
    local before = tonumber(total or '0') - tonumber(moved or '0')
    local key_id, owners = string.match(row, '^([^.:]*)%.?([^:]*):')
    move_windows(organization, day, period .. '=', subjects_of(key_id, owners), '', integer(before))
    added = added + 1
  end
end
return added
