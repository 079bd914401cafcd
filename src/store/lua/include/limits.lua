-- The limits that a request meets: those of its key, its user, its group and its organization.

-- No amount is higher, raised or not: beyond it microcents would be inexact.
local MAX_CENTS = 9000000000

-- What live raises add to a cap. `raises`: "week 5000 1764547200000:…,…": period, cents, when it ends, ms, and what is for
-- people, without blanks.
local function raised_by(raises, period, now_ms)
  local sum = 0
  for of_period, cents, until_ms in string.gmatch(raises or '', '(%a+) (%d+) (%d+)') do
    if of_period == period and now_ms < tonumber(until_ms) then
      sum = sum + tonumber(cents)
    end
  end
  return sum
end

local function add_limit(limits, owner, period, kind, cents, now_ms)
  local base, in_force = tonumber(cents), tonumber(cents)
  if kind == 'hard_cap' and (owner.raises or '') ~= '' then
    in_force = math.min(base + raised_by(owner.raises, period, now_ms), MAX_CENTS)
  end
  limits[#limits + 1] = { scope = owner.scope, id = owner.id, subject = owner.subject, period = period, kind = kind,
    cents = in_force, raised = in_force - base }
end

-- Adds the rows of a text like "day cap 500,week budget 2000", without those of a period and kind that `own` has.
local function add_rows(limits, owner, text, own, now_ms)
  for period, kind, cents in string.gmatch(text or '', '(%a+) (%a+) (%d+)') do
    if not own or not string.find(own, period .. ' ' .. kind .. ' ', 1, true) then
      add_limit(limits, owner, period, kind == 'cap' and 'hard_cap' or kind, cents, now_ms)
    end
  end
end

-- `owner`: { scope, id, subject, hard_cap and budget (of a month, cents), limits, raises, member_limits (of a user: what it has
-- where its own limits say nothing) }.
local function add_limits_of(limits, owner, now_ms)
  if (owner.budget or '') ~= '' then
    add_limit(limits, owner, 'month', 'budget', owner.budget, now_ms)
  end
  if (owner.hard_cap or '') ~= '' then
    add_limit(limits, owner, 'month', 'hard_cap', owner.hard_cap, now_ms)
  end
  add_rows(limits, owner, owner.limits, nil, now_ms)
  add_rows(limits, owner, owner.member_limits, owner.limits or '', now_ms)
end

-- What users have where their own limits say nothing: their own group's, or without a group the organization's.
local function member_limits_of(organization, group_id, of_organization)
  local version, _, _, of_group = read_owner(organization, 'group', group_id, 'member_limits')
  if version then
    return of_group or ''
  end
  return of_organization or ''
end

-- Owners whose limits count for a request, the narrowest first. `key_record`: nil when it is no key's.
local function read_owners(organization, key_record, key_id, owners)
  local all = {}
  if key_record then
    local budget, hard_cap, limits, raises = read_amounts(key_record, 'limits', 'raises')
    all[1] = { scope = 'key', id = key_id, subject = 'key:' .. key_id, budget = budget, hard_cap = hard_cap, limits = limits,
      raises = raises }
  end
  local budget, hard_cap, own_limits, own_raises, member_limits =
    read_amounts(organization, 'limits', 'raises', 'member_limits')
  for kind, rest in string.gmatch(owners, '(%a+)(_[^.]+)') do
    local id = kind .. rest
    local version, _, _, limits, raises, group_id = read_owner(organization, kind, id, 'limits', 'raises', 'group_id')
    if version then
      all[#all + 1] = { scope = kind, id = id, subject = kind .. ':' .. id, limits = limits, raises = raises,
        member_limits = kind == 'user' and member_limits_of(organization, group_id, member_limits) or '' }
    end
  end
  all[#all + 1] = { scope = 'organization', id = '', subject = 'organization', budget = budget, hard_cap = hard_cap,
    limits = own_limits, raises = own_raises }
  return all
end

local function limits_of(owners, now_ms)
  local limits = {}
  for _, owner in ipairs(owners) do
    add_limits_of(limits, owner, now_ms)
  end
  return limits
end
