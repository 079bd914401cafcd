-- Quick check whether an alert may fire. It runs at each charge and nearly always finds none, so it only compares,
-- and treats unclear cases as a possible alert. thresholds.lua decides what fires.

-- Returns whether spend is below the first alert of each limit in a text like "day cap 500,week budget 2000@50/75".
-- A limit without own percentages first alerts at 80 % of a budget or 90 % of a cap. Ignores temporary increases,
-- which only make caps higher. `sums`: spend by period and place, see move_windows; empty if nothing changed.
local function are_rows_far(text, sums, place)
  for period, kind, cents, own, first in string.gmatch(text or '', '(%a+) (%a+) (%d+)(@?)(%d*)') do
    local spent = sums[period] and sums[period][place]
    local percent = own == '' and (kind == 'cap' and 90 or 80) or tonumber(first) or 100
    if not spent or is_share_reached(tonumber(cents), percent, spent) then
      return false
    end
  end
  return true
end

-- Returns whether no alert can fire. `of_organization`: the organization's limits, and its limits for members whose
-- group is missing or deleted. In `sums`, the request's user and group follow from place 3 on.
local function are_alerts_far(organization, of_organization, key_record, owners, sums)
  if not are_rows_far(of_organization[1], sums, 1) or not are_rows_far(redis.call('HGET', key_record, 'limits'), sums, 2) then
    return false
  end
  if owners ~= '' then
    local place = 3
-- @include inherited-limits.lua
    for kind, rest in string.gmatch(owners, '(%a+)(_[^.]+)') do
      local limits, group_id = unpack(redis.call('HMGET', sibling(organization, kind .. ':' .. kind .. rest), 'limits', 'group_id'))
      local of_members = kind == 'user' and member_limits_of(organization, group_id, of_organization[2]) or ''
      if not are_rows_far(limits, sums, place) or not are_rows_far(of_members, sums, place) then
        return false
      end
      place = place + 1
    end
  end
  return true
end
