-- Prepares to store the sums of a past day's rows. From now on, a script that changes a row of the day deletes its sums,
-- including the mark that this script sets.
--
-- KEYS[1] organization        KEYS[2] usage of the day    KEYS[3] sums of the day
-- ARGV[1] day                 ARGV[2] day's end (exclusive), ms    ARGV[3] mark of the caller
-- ARGV[4] when the month's figures expire, ms
--
-- Reply: {'begun'}; {'none'}: the day is not over, has no usage or is of no organization; nothing was changed.

-- @include time.lua

-- @input

if now_milliseconds() < day_end_ms or redis.call('EXISTS', usage, organization) < 2 then
  return { 'none' }
end
if day > (redis.call('HGET', organization, 'sums_until') or '') then
  redis.call('HSET', organization, 'sums_until', day)
end
redis.call('HSET', sums, 'state', mark)
redis.call('PEXPIREAT', sums, expires_at_ms)
return { 'begun' }
