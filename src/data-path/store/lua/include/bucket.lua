-- Request buckets. One token is 60,000,000 units, so that each microsecond adds as many units as the rate has requests
-- per minute (a sixtieth of them tokens a second): only integers, no rounding. The largest bucket, 100,000 tokens, is
-- 6 * 10^12 units.
local UNITS_PER_TOKEN = 60000000

-- Field of the rate in a key's record.
local RATE_FIELD = 'rpm'

-- Returns the capacity in tokens of the bucket of requests.
local function request_capacity(rate)
  return math.max(10, math.floor(rate / 10))
end

-- Returns the capacity in tokens of the bucket of count_tokens: clients send two dozen of these at once.
local function count_capacity(rate)
  return math.max(60, request_capacity(rate))
end

-- Returns the units in a bucket now; a new bucket is full. If the clock went back, nothing is added. A product beyond
-- 2^53 is inexact, but then far above any capacity. `units`, `at`: the stored values, if already read.
local function bucket_units(bucket, rate, capacity, now_us, units, at)
  local full = capacity * UNITS_PER_TOKEN
  if not at then
    local state = redis.call('HMGET', bucket, 'units', 'at')
    units, at = state[1], state[2]
  end
  if not units then
    return full
  end
  local elapsed = math.max(0, now_us - tonumber(at))
  return math.min(full, tonumber(units) + elapsed * rate)
end

-- Writes a bucket. `...`: further fields and values to write.
local function write_bucket(bucket, units, now_us, ...)
  redis.call('HSET', bucket, 'units', integer(units), 'at', integer(now_us), ...)
end
