-- Alerts: 80 % and 100 % of a monthly budget, 90 % and 100 % of a monthly hard cap, of a key and of its organization.
-- Tested by level, spend >= threshold and not fired yet: whoever comes first past it fires it, once for each subject,
-- amount, threshold and month. The alert is in the list and in the outbox in the same step as the spend that reached it.
--
-- Spend is the number that caps are compared with: what requests that have ended cost, and a lower bound of what those in
-- flight have cost so far. What fires in one step is one message: one entry of the outbox, under the id of its first alert.

-- Entries in the list; the outbox keeps an alert until it was delivered or given up.
local LISTED_ALERTS = 10000

local THRESHOLDS = {
  { kind = 'budget', percents = { 80, 100 } },
  { kind = 'hard_cap', percents = { 90, 100 } },
}

-- A UUID version 7. Lua's random numbers are the same in every run here, so its tail is a hash of what makes the alert
-- the only one of its kind.
local function create_alert_id(now_ms, fired, member)
  local hash = redis.sha1hex(fired .. ' ' .. member)
  local time = string.format('%012x', now_ms)
  local variant = 1 + tonumber(string.sub(hash, 4, 4), 16) % 4
  return 'alert_' .. string.sub(time, 1, 8) .. '-' .. string.sub(time, 9) .. '-7' .. string.sub(hash, 1, 3) .. '-'
    .. string.sub('89ab', variant, variant) .. string.sub(hash, 5, 7) .. '-' .. string.sub(hash, 8, 19)
end

-- Adds an alert to the message as field, value, field, value …, its id among them. A program of schema 1 delivers the
-- first of them.
local function add_alert(message, names, member, alert, percent)
  local now_ms = now_milliseconds()
  local id = create_alert_id(now_ms, names.fired, member)
  message.id = message.id or id
  message[#message + 1] = { 'id', id, 'message', message.id, 'kind', alert.kind, 'scope', alert.scope,
    'key', alert.key_id, 'key_name', alert.key_name, 'percent', integer(percent), 'amount_cents', alert.amount_cents,
    'spent', alert.spent, 'currency', alert.currency, 'month', alert.month, 'at', integer(now_ms) }
end

local function write_message(names, message)
  for _, fields in ipairs(message) do
    redis.call('XADD', names.alerts, 'MAXLEN', '~', LISTED_ALERTS, '*', unpack(fields))
  end
  -- The others' fields behind the first one's, as "2:id", "2:kind" …
  local entry = { unpack(message[1]) }
  for position = 2, #message do
    for index, text in ipairs(message[position]) do
      entry[#entry + 1] = index % 2 == 1 and integer(position) .. ':' .. text or text
    end
  end
  redis.call('XADD', names.outbox, '*', unpack(entry))
end

-- Fires what one subject, the key or the organization, has reached. `record`: where its amounts stand.
local function fire_subject(message, names, record, subject, alert)
  local budget, hard_cap = read_amounts(record)
  local amounts = { budget = budget or '', hard_cap = hard_cap or '' }
  if amounts.budget == '' and amounts.hard_cap == '' then
    return
  end
  local spent = names.spent and names.spent[subject] or number_or_zero(redis.call('HGET', names.spend, subject))
  for _, threshold in ipairs(THRESHOLDS) do
    local amount_cents = amounts[threshold.kind]
    local amount = tonumber(amount_cents) or 0
    for _, percent in ipairs(threshold.percents) do
      -- At most 9 * 10^15, so exact. Of nothing everything is spent from the start: that is no news.
      if amount > 0 and spent >= amount * percent * 10000 then
        local member = subject .. ' ' .. threshold.kind .. ' ' .. amount_cents .. ' ' .. percent
        if redis.call('SADD', names.fired, member) == 1 then
          alert.kind, alert.amount_cents, alert.spent = threshold.kind, amount_cents, integer(spent)
          add_alert(message, names, member, alert, percent)
        end
      end
    end
  end
end

-- What fire_thresholds is told of spend that has just moved; nil when it has not, so that it is read.
local function spent_by(key_id, key_spent, organization_spent)
  return organization_spent and { organization = organization_spent, ['key:' .. key_id] = key_spent }
end

-- Fires what the spend of a month has reached and tells the delivery. Returns how many alerts that were, as text.
-- names: { organization, key (nil: not the key's), spend, fired, outbox, alerts, spent (by subject, nil: it is read) };
-- only_key: not the organization's.
local function fire_thresholds(names, key_id, month, expires_at_ms, only_key)
  local message = {}
  local currency, deleted_at = unpack(redis.call('HMGET', names.organization, 'currency', 'deleted_at'))
  currency = currency or ''
  if (deleted_at or '') ~= '' then
    return '0'
  end
  if names.key then
    local name = redis.call('HGET', names.key, 'name') or ''
    local alert = { scope = 'key', key_id = key_id, key_name = name, currency = currency, month = month }
    fire_subject(message, names, names.key, 'key:' .. key_id, alert)
  end
  if not only_key then
    local alert = { scope = 'organization', key_id = '', key_name = '', currency = currency, month = month }
    fire_subject(message, names, names.organization, 'organization', alert)
  end
  if #message > 0 then
    if redis.call('PTTL', names.fired) == -1 then
      redis.call('PEXPIREAT', names.fired, expires_at_ms)
    end
    write_message(names, message)
    -- It only hastens what a sweep finds too: a user that may not publish must not lose the charge that fired it.
    redis.pcall('PUBLISH', 'igw:alerts', string.match(names.organization, '{(.-)}'))
  end
  return integer(#message)
end
