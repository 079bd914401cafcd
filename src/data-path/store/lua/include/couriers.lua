-- A courier delivers the alerts of one organization to one channel, in the order of the outbox. It has a cursor (the
-- last finished entry), a lease (who delivers, until when) and the number of failed attempts of the entry after the
-- cursor.

-- Returns the entry after the cursor, or nil.
local function next_entry(outbox, cursor)
  return redis.call('XRANGE', outbox, '(' .. (cursor or '0-0'), '+', 'COUNT', '1')[1]
end

-- Returns the milliseconds from now until a stored time; 0 if there is none or it has passed.
local function milliseconds_until(text, now_ms)
  return math.max(0, number_or_zero(text) - now_ms)
end
