-- Returns microseconds by Redis's own clock, so that workers' clocks do not matter; exact (below 2^53) until the year
-- 2255.
local function now_microseconds()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- Returns Unix milliseconds as a Lua number.
local function now_milliseconds()
  return math.floor(now_microseconds() / 1000)
end
