-- Counters of spend and reservations; windows.lua describes the windows.

-- Lists the owners of a spend. `key_id`: '' for no key.
local function subjects_of(key_id, owners)
  local subjects = { 'organization', key_id ~= '' and 'key:' .. key_id or nil }
  if owners ~= '' then
    for kind, id in string.gmatch(owners, '(%a+)(_[^.]+)') do
      subjects[#subjects + 1] = kind .. ':' .. kind .. id
    end
  end
  return subjects
end

-- Lists all periods that an organization counts. `windows`, `seeding`: fields of its record.
local MONTH_ALONE = 'month='
local function counted_periods(windows, seeding)
  windows, seeding = windows or '', seeding or ''
  return windows .. seeding == '' and MONTH_ALONE or MONTH_ALONE .. ' ' .. windows .. ' ' .. seeding
end

-- Changes the counters of these subjects in one window, see move_windows. Returns the sums in the order of the subjects.
local function move_window(organization, period, window, subjects, prefix, text, expires_at_ms)
  local spend = sibling(organization, 'spend:' .. window)
  -- Created with two elements, for organization and key: growing an empty list takes longer than filling it.
  local sums = { false, false }
  for position = 1, #subjects do
    sums[position] = redis.call('HINCRBY', spend, prefix .. subjects[position], text)
  end
  -- In a new hash, every field starts with this difference.
  if sums[1] == tonumber(text) and redis.call('PTTL', spend) == -1 then
    -- Time that counters are kept, for late charges. Those of a month are kept until its retention ends.
-- @periods retention
    if RETENTION_MS[period] then
      redis.call('PEXPIRE', spend, RETENTION_MS[period])
    elseif period == 'month' and expires_at_ms then
      redis.call('PEXPIREAT', spend, expires_at_ms)
    end
  end
  return sums
end

-- Changes the counters of these subjects in the windows of a day by a difference, `text`. `periods`: "month= day=20783
-- …". `prefix`: '' for spend, 'held:' for reserved amounts. `expires_at_ms`: of a month. Returns the sums by period,
-- in the order of the subjects.
local function move_windows(organization, day, periods, subjects, prefix, text, expires_at_ms)
  local month = string.sub(day, 1, 7)
  if periods == MONTH_ALONE then
    return { month = move_window(organization, 'month', month, subjects, prefix, text, expires_at_ms) }
  end
  -- Included here, because Redis creates all functions again in each run.
-- @include windows.lua
  local windows, all = windows_of(day_number(day), month), {}
  for period in string.gmatch(periods, '(%a+)=') do
    all[period] = move_window(organization, period, windows[period], subjects, prefix, text, expires_at_ms)
  end
  return all
end

-- Changes spend in all windows that the organization counts. `windows`, `seeding`: fields of its record; `row`: the
-- spend's usage row, see usage_row. Returns the result of move_windows.
local function move_spend(organization, windows, seeding, day, subjects, row, text, expires_at_ms)
  local sums = move_windows(organization, day, counted_periods(windows, seeding), subjects, '', text, expires_at_ms)
  -- Counted for seed-windows.lua, which must only add spend from before seeding started.
  if (seeding or '') ~= '' then
    for period in string.gmatch(seeding, '(%a+)=') do
      redis.call('HINCRBY', sibling(organization, 'window-seed:' .. period), day .. ' ' .. row, text)
    end
  end
  return sums
end
