-- Stores the sums of a past day's rows, unless a row changed since begin-sums.lua, or another caller started.
--
-- KEYS[1] sums of the day
-- ARGV[1] mark of the caller    ARGV[2] when the month's figures expire, ms    ARGV[3..] field, value, field, value …
--
-- Reply: {'stored'}; {'changed'}: nothing was changed.

-- @input

if redis.call('HGET', sums, 'state') ~= mark then
  return { 'changed' }
end
redis.call('DEL', sums)
redis.call('HSET', sums, 'state', 'whole')
for position = FIRST_FURTHER_ARGUMENT, #ARGV, 2 do
  redis.call('HSET', sums, ARGV[position], ARGV[position + 1])
end
redis.call('PEXPIREAT', sums, expires_at_ms)
return { 'stored' }
