-- Whether spend has come to where an alert may fire. It is asked at each charge, and the answer is nearly always no: so it makes
-- nothing but the comparison, and where it is not sure it says yes. thresholds.lua has what fires, and when.

-- 80 % of a budget, 90 % of a hard cap: the first thresholds of a month, in microcents.
local function is_month_far(budget, hard_cap, spent)
  budget, hard_cap = tonumber(budget or ''), tonumber(hard_cap or '')
  return not (budget and is_share_reached(budget, 80, spent)) and not (hard_cap and is_share_reached(hard_cap, 90, spent))
end

-- Of a text like "day cap 500,week budget 2000" (limits.lua), with the lower of both for either. Without raises, which only
-- make caps higher. `sums`: what is spent, by period and then place, see move_windows.
local function are_rows_far(text, sums, place)
  for period, cents in string.gmatch(text or '', '(%a+) %a+ (%d+)') do
    local spent = sums[period] and sums[period][place]
    if not spent or is_share_reached(tonumber(cents), 80, spent) then
      return false
    end
  end
  return true
end

-- Of the users and groups of a request, which stand from `place` on. `of_organization`: what it gives each member that is in
-- no group, or in one that was deleted.
local function are_owners_far(organization, owners, sums, place, of_organization)
  for kind, rest in string.gmatch(owners, '(%a+)(_[^.]+)') do
    local limits, group_id = unpack(redis.call('HMGET', sibling(organization, kind .. ':' .. kind .. rest), 'limits', 'group_id'))
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

-- Whether nothing can fire. `spend`: of the month. `amounts`: of the organization, its month's, limits and member_limits.
-- `sums`: see move_windows; none when nothing moved.
local function are_alerts_far(organization, amounts, key_record, spend, key_id, owners, sums)
  local organization_spent, key_spent
  if sums.month then
    organization_spent, key_spent = sums.month[1], sums.month[2]
  else
    local read = redis.call('HMGET', spend, 'organization', 'key:' .. key_id)
    organization_spent, key_spent = number_or_zero(read[1]), number_or_zero(read[2])
  end
  local budget, hard_cap, limits, member_limits = unpack(amounts)
  local key_budget, key_cap, key_limits = read_amounts(key_record, 'limits')
  return is_month_far(budget, hard_cap, organization_spent) and is_month_far(key_budget, key_cap, key_spent)
    and are_rows_far(limits, sums, 1) and are_rows_far(key_limits, sums, 2)
    and are_owners_far(organization, owners, sums, 3, member_limits)
end
