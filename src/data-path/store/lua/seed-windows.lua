-- Adds the cost of some usage rows of a day from before their organization started to count a period: their cost
-- now minus charges since then. Each row is added once, even if called repeatedly or concurrently.
--
-- KEYS[1] organization        KEYS[2] usage of the day        KEYS[3] seeded spend of the period
-- ARGV[1] period              ARGV[2] day
-- ARGV[3..] rows, see usage_row
--
-- Reply: how many were added; -1: the period is complete already.

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
