-- Limits that apply to a request: those of its key, its user, its group and its organization. Each record has its
-- limits in its field `limits`: "day budget 200,month cap 5000@50/75", the last with own alerts at 50 %, 75 % and 100 %.

-- Lists the owners of a request, narrowest scope first. `key`, `of_organization`: their fields limits and raises;
-- `key`: nil without a key.
local function owners_of(organization, key_id, key, of_organization, owners)
  local all = {}
  if key then
    all[1] = { scope = 'key', id = key_id, subject = 'key:' .. key_id, limits = key[1] or '', raises = key[2] or '' }
  end
  for kind, rest in string.gmatch(owners, '(%a+)(_[^.]+)') do
    local id = kind .. rest
    local version, _, _, limits, raises, group_id = read_owner(organization, kind, id, 'limits', 'raises', 'group_id')
    if version then
      limits = limits or ''
      if kind == 'user' then
        limits = with_member_limits(limits, member_limits_of(organization, group_id))
      end
      all[#all + 1] = { scope = kind, id = id, subject = kind .. ':' .. id, limits = limits, raises = raises or '' }
    end
  end
  all[#all + 1] = { scope = 'organization', id = '', subject = 'organization', limits = of_organization[1] or '',
    raises = of_organization[2] or '' }
  return all
end

-- Reads all limits of a request's owners. `key_record`: nil without a key.
local function read_limits(organization, key_record, key_id, owners, now_ms)
  local key = key_record and redis.call('HMGET', key_record, 'limits', 'raises')
  local of_organization = redis.call('HMGET', organization, 'limits', 'raises')
  local limits = {}
  for _, owner in ipairs(owners_of(organization, key_id, key, of_organization, owners)) do
    for period, kind, text, own, alerts in string.gmatch(owner.limits, '(%a+) (%a+) (%d+)(@?)([%d/]*)') do
      local cents, raised = tonumber(text), 0
      if kind == 'cap' then
        cents, raised = raised_cap(cents, owner.raises, period, now_ms)
      end
      limits[#limits + 1] = { scope = owner.scope, id = owner.id, subject = owner.subject, period = period,
        kind = kind == 'cap' and 'hard_cap' or kind, cents = cents, raised = raised,
        alerts = own ~= '' and alerts or nil }
    end
  end
  return limits
end
