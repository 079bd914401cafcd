-- A courier takes the alerts of one organization to one channel, in the order of the outbox: a cursor (the last entry
-- that is done with), a lease (who is at work, until when) and how often the entry behind the cursor was tried.

-- The entry behind the cursor, or nil.
local function next_entry(outbox, cursor)
  return redis.call('XRANGE', outbox, '(' .. (cursor or '0-0'), '+', 'COUNT', '1')[1]
end

-- Milliseconds from now until a stored time; 0 when there is none, or when it has passed.
local function milliseconds_until(text, now_ms)
  return math.max(0, number_or_zero(text) - now_ms)
end
