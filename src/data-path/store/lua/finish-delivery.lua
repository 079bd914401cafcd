-- Records the outcome of an attempt and releases the lease.
--
-- KEYS[1] courier             KEYS[2] outbox      KEYS[3] deliveries of the message
-- KEYS[4..] couriers of the other channels
-- ARGV[1] owner               ARGV[2] outbox entry
-- ARGV[3] 'done': continue with the next one; 'again': retry this one; 'later': the same, and no attempt was made;
--   'untried': as if it had not been claimed
-- ARGV[4] wait before the next attempt, ms            ARGV[5] progress, for the next attempt
-- ARGV[6] channel             ARGV[7] displayed state of this delivery, '' to keep it    ARGV[8] when that expires, ms
--
-- Reply: {'recorded'}; {'lost'}: another process has taken over, nothing was changed.
--
-- Guarantees: an entry leaves the outbox only when no channel is owed it. A channel that is made meanwhile is owed none of the
-- entries up to this one.

-- @include integer.lua
-- @include time.lua

-- @input
local FIRST_COURIER = FIRST_FURTHER_KEY

-- Compares entry ids by their two numbers: as text "9-0" would follow "10-0".
local function is_before(one, other)
  local one_ms, one_seq = string.match(one, '^(%d+)-(%d+)$')
  local other_ms, other_seq = string.match(other, '^(%d+)-(%d+)$')
  if one_ms ~= other_ms then
    return tonumber(one_ms) < tonumber(other_ms)
  end
  return tonumber(one_seq) < tonumber(other_seq)
end

if redis.call('HGET', courier, 'owner') ~= owner then
  return { 'lost' }
end
redis.call('HDEL', courier, 'owner', 'lease_until')
if shown ~= '' then
  redis.call('HSET', deliveries, channel, shown)
  redis.call('PEXPIREAT', deliveries, expires_at_ms)
end
if outcome == 'again' then
  redis.call('HINCRBY', courier, 'attempts', '1')
end
if outcome == 'again' or outcome == 'later' then
  redis.call('HSET', courier, 'next_at', integer(now_milliseconds() + wait_ms), 'progress', progress)
elseif outcome == 'done' then
  redis.call('HDEL', courier, 'attempts', 'next_at', 'progress')
  redis.call('HSET', courier, 'cursor', entry)
  local first = entry
  for position = FIRST_COURIER, #KEYS do
    local cursor = redis.call('HGET', KEYS[position], 'cursor')
    if not cursor then
      -- This channel has no cursor yet, so it may still need every entry.
      return { 'recorded' }
    end
    first = is_before(cursor, first) and cursor or first
  end
  redis.call('XTRIM', outbox, 'MINID', first)
end
return { 'recorded' }
