-- Spend alerts: at 80 % and 100 % of a budget, 90 % and 100 % of a hard cap, of each owner and window. For days only at
-- 100 %, unless the organization wants all. A limit's own percentages replace the first; 100 % always fires.
--
-- An alert fires once per subject, amount, percentage and window. It enters the list and the outbox with the first of
-- these steps: a charge that reaches it, a change that puts the limit below the spend, a rejection by a cap. A cap can
-- be reached without a charge when an increase ends or when member limits decrease.
--
-- Spend is the number that caps are compared with: the cost of ended requests, and a lower bound of the cost of those
-- in flight.

-- @include alert-message.lua

local FIRST_PERCENT = { budget = '80', hard_cap = '90' }

-- Returns the percentages at which a limit alerts, in order, as text: "50/75/100".
local function percents_of(limit, names)
  local is_shown = limit.period ~= 'day' or names.day_alerts == 'all'
  return (limit.alerts or is_shown and FIRST_PERCENT[limit.kind] or '') .. '/100'
end

-- Creates a UUID version 7. Lua's random numbers repeat in every run here, so its tail is a hash of the fields that
-- make the alert unique.
local function create_alert_id(now_ms, member)
  local hash = redis.sha1hex(member)
  local time = string.format('%012x', now_ms)
  local variant = 1 + tonumber(string.sub(hash, 4, 4), 16) % 4
  return 'alert_' .. string.sub(time, 1, 8) .. '-' .. string.sub(time, 9) .. '-7' .. string.sub(hash, 1, 3) .. '-'
    .. string.sub('89ab', variant, variant) .. string.sub(hash, 5, 7) .. '-' .. string.sub(hash, 8, 19)
end

-- Adds an alert to the message as field, value, field, value …, including its id. Optional fields follow the common
-- ones.
local function add_alert(message, names, member, limit, percent, spent)
  local now_ms = now_milliseconds()
  local id = create_alert_id(now_ms, member)
  message.id = message.id or id
  local is_key, is_organization = limit.scope == 'key', limit.scope == 'organization'
  local record = is_key and names.key or sibling(names.organization, limit.subject)
  local name = is_organization and '' or redis.call('HGET', record, 'name') or ''
  local alert = { 'id', id, 'message', message.id, 'kind', limit.kind, 'scope', limit.scope,
    'key', is_key and limit.id or '', 'key_name', is_key and name or '', 'percent', percent,
    'amount_cents', integer(limit.cents), 'spent', spent, 'currency', names.currency, 'month', names.windows.month,
    'at', integer(now_ms) }
  local function add(field, value)
    alert[#alert + 1] = field
    alert[#alert + 1] = value
  end
  if limit.period ~= 'month' then
    add('period', limit.period)
    add('window', names.windows[limit.period])
  end
  if not is_key and not is_organization then
    add('owner', limit.id)
    add('owner_name', name)
  end
  message[#message + 1] = alert
end

-- Fires a limit's alerts, once per window: the window's hash has the fired alerts next to the spend. `spent`: text
-- with all digits.
local function fire_limit(message, names, limit, spend, spent)
  -- A limit of 0 is reached from the start and never fires.
  if limit.cents == 0 then
    return
  end
  for percent in string.gmatch(percents_of(limit, names), '%d+') do
    if is_share_reached(limit.cents, tonumber(percent), tonumber(spent)) then
      local member = limit.subject .. ' ' .. limit.kind .. ' ' .. integer(limit.cents) .. ' ' .. percent
      if redis.call('HSETNX', spend, 'fired:' .. member, '1') == 1 then
        add_alert(message, names, spend .. ' ' .. member, limit, percent, spent)
      end
    end
  end
end

-- Fires the alerts of a key's, its owners' and its organization's limits in these windows (windows.lua), and notifies
-- the delivery. `key_record`: nil without a key. Returns the number of fired alerts as text.
local function fire_alerts(organization, key_record, key_id, owners, windows)
  local message = {}
  local currency, deleted_at, day_alerts = unpack(redis.call('HMGET', organization, 'currency', 'deleted_at', 'day_alerts'))
  if (deleted_at or '') ~= '' then
    return '0'
  end
  local names = { organization = organization, key = key_record, windows = windows, currency = currency or '',
    day_alerts = day_alerts }
  for _, limit in ipairs(read_limits(organization, key_record, key_id, owners, now_milliseconds())) do
    local spend = sibling(organization, 'spend:' .. windows[limit.period])
    fire_limit(message, names, limit, spend, redis.call('HGET', spend, limit.subject) or '0')
  end
  if #message > 0 then
    write_message(sibling(organization, 'alerts'), sibling(organization, 'outbox'), message)
    announce_message(organization)
  end
  return integer(#message)
end
