-- Adds an alert to the outbox again for some channels, and makes their waiting retries due at once.
--
-- KEYS[1] outbox              KEYS[2] deliveries of the alert         KEYS[3..] couriers
-- ARGV[1] channels, separated by spaces; '' if the outbox still has it for all requested channels
-- ARGV[2] displayed state of these deliveries               ARGV[3] when that expires, ms
-- ARGV[4..] fields of the alert
--
-- Reply: {'queued'}.

-- @input
local FIRST_COURIER, FIRST_FIELD = FIRST_FURTHER_KEY, FIRST_FURTHER_ARGUMENT

for position = FIRST_COURIER, #KEYS do
  redis.call('HDEL', KEYS[position], 'next_at')
end
if channels ~= '' then
  local fields = { unpack(ARGV, FIRST_FIELD) }
  fields[#fields + 1] = 'only'
  fields[#fields + 1] = channels
  redis.call('XADD', outbox, '*', unpack(fields))
  for channel in string.gmatch(channels, '%S+') do
    redis.call('HSET', deliveries, channel, shown)
  end
  redis.call('PEXPIREAT', deliveries, expires_at_ms)
end
return { 'queued' }
