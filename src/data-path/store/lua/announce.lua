-- Registers or removes a worker. Each worker thereby knows how many share a key's rate while Redis is unreachable.
--
-- KEYS[1] workers, by the time until which they count, ms
-- ARGV[1] worker        ARGV[2] how long it counts from now on, ms; 0: remove it
--
-- Reply: number of workers now, including this one unless it was removed.

-- @include integer.lua
-- @include time.lua

-- @input

local now_ms = now_milliseconds()
redis.call('ZREMRANGEBYSCORE', workers, '-inf', integer(now_ms))
if counts_for_ms == 0 then
  redis.call('ZREM', workers, worker)
else
  redis.call('ZADD', workers, integer(now_ms + counts_for_ms), worker)
end
return redis.call('ZCARD', workers)
