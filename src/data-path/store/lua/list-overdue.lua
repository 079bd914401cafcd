-- Lists open requests past their deadline.
--
-- KEYS[1] open requests
-- ARGV[1] at most this many
--
-- Reply: request ids, the longest overdue first. Changes nothing.

-- @include integer.lua
-- @include time.lua

-- @input
return redis.call('ZRANGEBYSCORE', open_requests, '-inf', integer(now_milliseconds()), 'LIMIT', '0', limit)
