-- Which of several caps is named. Waiting for another would not help, so it is the one that resets last; of those the
-- narrowest owner's, and of one owner the longest period's.

local LENGTHS = { day = 1, week = 2, month = 3, total = 4 }

-- `limits`: the narrowest owner's first. `resets`: by period, ms; a total never does.
local function name_cap(limits, resets)
  local named
  for _, limit in ipairs(limits) do
    local at, named_at = resets[limit.period] or math.huge, named and (resets[named.period] or math.huge)
    local is_longer = named and at == named_at and limit.subject == named.subject
      and LENGTHS[limit.period] > LENGTHS[named.period]
    if not named or at > named_at or is_longer then
      named = limit
    end
  end
  return named
end

-- When the windows of a day end, ms. `month`: "2026-11".
local function resets_of(number, month)
  local year, name = string.match(month, '^(%d+)-(%d+)$')
  local next_month = tonumber(year) * 12 + tonumber(name)
  local first_day = string.format('%04d-%02d-01', math.floor(next_month / 12), next_month % 12 + 1)
  return { day = (number + 1) * 86400000, week = (math.floor((number + 3) / 7) * 7 + 4) * 86400000,
    month = day_number(first_day) * 86400000 }
end

-- Reads what was spent and (strict caps) is held against each of these caps in the windows of its request: one command a
-- window, whoever's they are.
local function read_spent(caps, organization, windows, strict)
  local asked = {}
  for _, cap in ipairs(caps) do
    local fields = asked[cap.period]
    if not fields then
      fields = {}
      asked[cap.period] = fields
    end
    cap.place = #fields + 1
    fields[cap.place] = cap.subject
    if strict then
      fields[cap.place + 1] = 'held:' .. cap.subject
    end
  end
  for period, fields in pairs(asked) do
    asked[period] = redis.call('HMGET', sibling(organization, 'spend:' .. windows[period]), unpack(fields))
  end
  for _, cap in ipairs(caps) do
    local read = asked[cap.period]
    cap.spent, cap.held = read[cap.place] or '0', strict and read[cap.place + 1] or '0'
  end
  return caps
end
