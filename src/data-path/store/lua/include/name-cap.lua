-- Chooses the cap to report when several are reached: the one that resets last, since waiting for another would not
-- help; of these the one with the narrowest scope, then with the longest period.

local LENGTHS = { day = 1, week = 2, month = 3, total = 4 }

-- `limits`: narrowest scope first. `resets`: by period, ms; a total never resets.
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

-- Returns when the windows of a day end, ms. `month`: "2026-11".
local function resets_of(number, month)
  local year, name = string.match(month, '^(%d+)-(%d+)$')
  local next_month = tonumber(year) * 12 + tonumber(name)
  local first_day = string.format('%04d-%02d-01', math.floor(next_month / 12), next_month % 12 + 1)
  return { day = (number + 1) * 86400000, week = (math.floor((number + 3) / 7) * 7 + 4) * 86400000,
    month = day_number(first_day) * 86400000 }
end
