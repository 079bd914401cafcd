-- Formats an integer for a command or a reply, exact up to 2^53. Lua's own conversions (`..`, tostring) lose digits
-- from 10^14 on; '%.0f' is also exact but four times slower.
local function integer(number)
  return string.format('%d', number)
end

-- Parses a stored integer, 0 if missing. Exact up to 2^53.
local function number_or_zero(text)
  return tonumber(text or '0') or 0
end
