-- Lists open requests past their deadline.
--
-- KEYS[1] holds
-- ARGV[1] at most this many
--
-- Reply: request ids, the longest overdue first. Changes nothing.

-- @include integer.lua
-- @include time.lua

-- @input
return redis.call('ZRANGEBYSCORE', holds, '-inf', integer(now_milliseconds()), 'LIMIT', '0', limit)
