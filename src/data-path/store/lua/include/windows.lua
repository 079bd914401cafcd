-- Where spend counts beside the month of its key and its organization: the day, the week and the total of all its owners, and
-- the month of its user and its group. An organization counts a period from when the first limit asks for it. Its field
-- `windows` says which, and the first window that has all of its spend ("day=day:20783 week=week:2969"), of the total the
-- first month that it knows ("total=2025-10"); `windows_seeding` says those to which what was spent before is being added
-- (seed-windows.lua). All names and numbers are those of windows.ts.

-- A charge may come so late (KEPT_DAYS of windows.ts); the figures behind a window's end are for people.
local KEPT_MS = { day = 1296000000, week = 1900800000 }

-- Days since 1970-01-01 of "2026-11-26" (days_from_civil, http://howardhinnant.github.io/date_algorithms.html).
local function day_number(day)
  local year, month, date = string.match(day, '^(%d+)-(%d+)-(%d+)$')
  year, month, date = tonumber(year), tonumber(month), tonumber(date)
  if month <= 2 then
    year, month = year - 1, month + 12
  end
  local day_of_year = math.floor((153 * (month - 3) + 2) / 5) + date - 1
  return year * 365 + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400) + day_of_year - 719468
end

-- The windows that a day is in, by period. Weeks begin on Mondays.
local function windows_of(number, month)
  return { day = 'day:' .. integer(number), week = 'week:' .. integer(math.floor((number + 3) / 7)), month = month,
    total = 'total' }
end

-- Whose spend it is. The first ones, as many as `in_month` says, have their month by move_spend. `key_id`: '' for no key's.
local function subjects_of(key_id, owners)
  local subjects = { 'organization', key_id ~= '' and 'key:' .. key_id or nil }
  subjects.in_month = #subjects
  for kind, id in string.gmatch(owners, '(%a+)(_[^.]+)') do
    subjects[#subjects + 1] = kind .. ':' .. kind .. id
  end
  return subjects
end

-- Moves what subjects have in these windows ("day=20783 …": the periods alone count) by a difference, `text`. `prefix`:
-- '' for what is spent, 'held:' for what is held. Returns what each has then: by period, in the order of the subjects; a hole
-- for those whose month is counted elsewhere.
local function move_windows(organization, windows, periods, subjects, prefix, text)
  local all = {}
  for period in string.gmatch(periods, '(%a+)=') do
    local spend, sum, sums = sibling(organization, 'spend:' .. windows[period]), nil, {}
    for position = period == 'month' and subjects.in_month + 1 or 1, #subjects do
      sum = redis.call('HINCRBY', spend, prefix .. subjects[position], text)
      sums[position] = sum
    end
    all[period] = sums
    -- In a hash that has just come to be, every field began with this difference.
    if KEPT_MS[period] and sum == tonumber(text) and redis.call('PTTL', spend) == -1 then
      redis.call('PEXPIRE', spend, KEPT_MS[period])
    end
  end
  return all
end

-- Beside move_spend, of an organization that counts windows. `row`: its usage row, see usage_row. Returns what move_windows does.
local function move_spend_in_windows(organization, counted, windows, subjects, row, text)
  local sums = move_windows(organization, windows, counted.periods, subjects, '', text)
  -- What has moved since the seeding began is not added by it.
  for period in string.gmatch(counted.seeding, '(%a+)=') do
    redis.call('HINCRBY', sibling(organization, 'window-seed:' .. period), windows.day .. ' ' .. row, text)
  end
  return sums
end

-- As an argument of the functions above; nil for an organization that counts none. `windows`, `seeding`: its fields.
local function counted_periods(windows, seeding)
  windows, seeding = windows or '', seeding or ''
  if windows == '' and seeding == '' then
    return nil
  end
  return { periods = windows .. ' ' .. seeding, seeding = seeding }
end
