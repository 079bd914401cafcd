-- Token buckets. One token is 60,000,000 units, so that each microsecond adds exactly `rpm` units (rpm / 60 tokens a
-- second): integers only, no rounding anywhere. The largest bucket, 100,000 tokens, is 6 * 10^12 units.
local UNITS_PER_TOKEN = 60000000

-- Capacity in tokens of the bucket of requests.
local function request_capacity(rpm)
  return math.max(10, math.floor(rpm / 10))
end

-- Capacity in tokens of the bucket of count_tokens: clients send two dozen of these at once.
local function count_capacity(rpm)
  return math.max(60, request_capacity(rpm))
end

-- Units in a bucket now: it starts full. A clock that went back adds nothing. A product beyond 2^53 is inexact, but then
-- far beyond any capacity.
local function bucket_units(bucket, rpm, capacity, now_us)
  local full = capacity * UNITS_PER_TOKEN
  local state = redis.call('HMGET', bucket, 'units', 'at')
  if not state[1] then
    return full
  end
  local elapsed = math.max(0, now_us - tonumber(state[2]))
  return math.min(full, tonumber(state[1]) + elapsed * rpm)
end

local function write_bucket(bucket, units, now_us)
  redis.call('HSET', bucket, 'units', integer(units), 'at', integer(now_us))
end
