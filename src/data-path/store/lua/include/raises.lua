-- Temporary increases of caps.

-- Maximum of any amount, raised or not: beyond it microcents would be inexact.
local MAX_CENTS = 9000000000

-- Returns a cap with the active increases of its period, and their sum. `raises`: "week 5000 1764547200000:…,…":
-- period, cents, end in ms, and a note for people without spaces; '' for none.
local function raised_cap(cents, raises, period, now_ms)
  local raised = 0
  for of_period, added, until_ms in string.gmatch(raises, '(%a+) (%d+) (%d+)') do
    if of_period == period and now_ms < tonumber(until_ms) then
      raised = raised + tonumber(added)
    end
  end
  raised = math.min(raised, MAX_CENTS - cents)
  return cents + raised, raised
end
