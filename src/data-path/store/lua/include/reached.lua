-- Quick check whether an alert may fire. It runs at each charge and nearly always says no, so it only compares, and
-- answers yes if unsure. thresholds.lua decides what fires.

-- Returns whether limits like "day cap 500,week budget 2000@50/75" are far: below their first own alert, or below 80 % of
-- a budget, 90 % of a cap. Ignores increases, which only make caps higher. `sums`: spend by period and place, see move_windows; empty if nothing
-- changed.
local function are_rows_far(text, sums, place)
  for period, kind, cents, own, first in string.gmatch(text or '', '(%a+) (%a+) (%d+)(@?)(%d*)') do
    local spent = sums[period] and sums[period][place]
    local percent = tonumber(first) or own == '' and (kind == 'cap' and 90 or 80) or 100
    if not spent or is_share_reached(tonumber(cents), percent, spent) then
      return false
    end
  end
  return true
end

-- Returns whether the limits of a request's users and groups are far; their sums are from `place` on.
-- `of_organization`: its limits for members without a group or of a deleted one.
local function are_owners_far(organization, owners, sums, place, of_organization)
  for kind, rest in string.gmatch(owners, '(%a+)(_[^.]+)') do
    local limits, group_id = unpack(redis.call('HMGET', sibling(organization, kind .. ':' .. kind .. rest), 'limits', 'group_id'))
    local of_members = ''
    if kind == 'user' then
-- @include inherited-limits.lua
      of_members = member_limits_of(organization, group_id, of_organization)
    end
    if not are_rows_far(limits, sums, place) or not are_rows_far(of_members, sums, place) then
      return false
    end
    place = place + 1
  end
  return true
end

-- Returns whether no alert can fire. `of_organization`: its limits, and those of members.
local function are_alerts_far(organization, of_organization, key_record, owners, sums)
  return are_rows_far(of_organization[1], sums, 1) and are_rows_far(redis.call('HGET', key_record, 'limits'), sums, 2)
    and (owners == '' or are_owners_far(organization, owners, sums, 3, of_organization[2]))
end
