-- Whether spend has come to where an alert may fire. It is asked at each charge, and the answer is nearly always no: so it makes
-- nothing but the comparison, and where it is not sure it says yes. thresholds.lua has what fires, and when.

-- Of limits like "day cap 500,week budget 2000": 80 % of a budget, 90 % of a cap. Without raises, which only make caps higher.
-- `sums`: what is spent, by period and then place, see move_windows; none when nothing moved.
local function are_rows_far(text, sums, place)
  for period, kind, cents in string.gmatch(text or '', '(%a+) (%a+) (%d+)') do
    local spent = sums[period] and sums[period][place]
    if not spent or is_share_reached(tonumber(cents), kind == 'cap' and 90 or 80, spent) then
      return false
    end
  end
  return true
end

-- Of the users and groups of a request, which stand from `place` on. `of_organization`: what it gives each member that is in
-- no group, or in one that was deleted.
local function are_owners_far(organization, owners, sums, place, of_organization)
  for kind, rest in string.gmatch(owners, '(%a+)(_[^.]+)') do
    local limits, group_id = unpack(redis.call('HMGET', sibling(organization, kind .. ':' .. kind .. rest), 'limit_rows', 'group_id'))
    local of_members = ''
    if kind == 'user' then
      of_members = of_organization
      local is_there, _, _, of_group = read_owner(organization, 'group', group_id, 'member_limits')
      if is_there then
        of_members = of_group
      end
    end
    if not are_rows_far(limits, sums, place) or not are_rows_far(of_members, sums, place) then
      return false
    end
    place = place + 1
  end
  return true
end

-- Whether nothing can fire. `of_organization`: its limit_rows and member_limits.
local function are_alerts_far(organization, of_organization, key_record, owners, sums)
  return are_rows_far(of_organization[1], sums, 1) and are_rows_far(redis.call('HGET', key_record, 'limit_rows'), sums, 2)
    and are_owners_far(organization, owners, sums, 3, of_organization[2])
end
