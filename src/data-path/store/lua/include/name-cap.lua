-- Chooses the cap to report when several are reached: the one that resets last, since waiting for another would not
-- help; of these the one with the narrowest scope, then with the longest period.

-- @periods ranks

-- `limits`: narrowest scope first. `resets`: by period, ms; a total never resets.
local function name_cap(limits, resets)
  local named
  for _, limit in ipairs(limits) do
    local at, named_at = resets[limit.period] or math.huge, named and (resets[named.period] or math.huge)
    local is_longer = named and at == named_at and limit.subject == named.subject
      and RANKS[limit.period] > RANKS[named.period]
    if not named or at > named_at or is_longer then
      named = limit
    end
  end
  return named
end

-- Returns the number of the first day of a month, which is counted from the year 0.
local function first_day(months)
  return day_number(string.format('%04d-%02d-01', math.floor(months / 12), months % 12 + 1))
end

-- Returns when the windows of a day end, ms. `month`: "2026-11".
local function resets_of(number, month)
-- @periods ends
end
