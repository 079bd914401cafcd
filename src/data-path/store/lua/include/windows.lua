-- Windows in which spend counts: those of its day, for its organization, key, user and group. Every organization
-- counts months. It counts another period once the first limit needs it: the field `windows` lists these periods with
-- the first window that has all of its spend ("day=day:20783 week=week:2969"), for the total the first month included
-- ("total=2025-10"). `windows_seeding` lists the periods to which earlier spend is still being added
-- (seed-windows.lua). All names and numbers are those of windows.ts and periods.ts.

-- Converts "2026-11-26" to days since 1970-01-01 (days_from_civil,
-- http://howardhinnant.github.io/date_algorithms.html).
local function day_number(day)
  local year, month, date = string.match(day, '^(%d+)-(%d+)-(%d+)$')
  year, month, date = tonumber(year), tonumber(month), tonumber(date)
  if month <= 2 then
    year, month = year - 1, month + 12
  end
  local day_of_year = math.floor((153 * (month - 3) + 2) / 5) + date - 1
  return year * 365 + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400) + day_of_year - 719468
end

-- Returns the windows that contain a day, by period.
local function windows_of(number, month)
-- @periods windows
end
