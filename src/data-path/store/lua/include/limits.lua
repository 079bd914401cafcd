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

-- Rows of a text like "day cap 500,week budget 2000": period, kind and cents of all, or of caps alone.
local ALL_ROWS, CAP_ROWS = '(%a+) (%a+) (%d+)', '(%a+) (cap) (%d+)'

local function visit_limit(owner, period, kind, text, now_ms, visit)
  local base, raised = tonumber(text), 0
  if kind == 'cap' and (owner.raises or '') ~= '' then
    raised = math.min(raised_by(owner.raises, period, now_ms), MAX_CENTS - base)
  end
  visit(owner, period, kind, base + raised, raised)
end

-- Calls visit(owner, period, kind, cents in force, raised cents) for each limit of an owner; whoever wants tables makes
-- them. `owner`: { scope, id, subject, hard_cap and budget (of a month, cents), limits, raises, member_limits (of a user: what
-- it has where its own limits say nothing) }.
local function each_limit(owner, rows, now_ms, visit)
  if rows == ALL_ROWS and (owner.budget or '') ~= '' then
    visit_limit(owner, 'month', 'budget', owner.budget, now_ms, visit)
  end
  if (owner.hard_cap or '') ~= '' then
    visit_limit(owner, 'month', 'cap', owner.hard_cap, now_ms, visit)
  end
  local own = owner.limits or ''
  if own ~= '' then
    for period, kind, text in string.gmatch(own, rows) do
      visit_limit(owner, period, kind, text, now_ms, visit)
    end
  end
  if (owner.member_limits or '') ~= '' then
    for period, kind, text in string.gmatch(owner.member_limits, rows) do
      if not string.find(own, period .. ' ' .. kind .. ' ', 1, true) then
        visit_limit(owner, period, kind, text, now_ms, visit)
      end
    end
  end
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

-- All limits of these owners, or their caps alone (CAP_ROWS).
local function limits_of(owners, now_ms, rows)
  local limits = {}
  local function add(owner, period, kind, cents, raised)
    limits[#limits + 1] = { scope = owner.scope, id = owner.id, subject = owner.subject, period = period,
      kind = kind == 'cap' and 'hard_cap' or kind, cents = cents, raised = raised }
  end
  for _, owner in ipairs(owners) do
    each_limit(owner, rows or ALL_ROWS, now_ms, add)
  end
  return limits
end
