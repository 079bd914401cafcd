-- Redis's own clock, so that no worker's matters. Microseconds; exact (below 2^53) until the year 2255.
local function now_microseconds()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- Unix milliseconds, as Lua number.
local function now_milliseconds()
  return math.floor(now_microseconds() / 1000)
end
