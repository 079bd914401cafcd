-- Compares requests of an organization that have ended in the request log. With ARGV[1] = '1' those without a
-- record get one as their final charge would have left it, so that a later final charge from a spool or from memory
-- changes nothing.
--
-- KEYS[1] open requests by deadline, then for each request its record
-- ARGV[1] '1': mark            ARGV[2] sequence number of the marks, above all others
-- ARGV[n] then for each request: key id, day, model, figures in the order of USAGE_FIGURES with one space between
--
-- Reply: for each request '1' where it has a record without a final charge, else '0'. {}: requests of the organization are
--   under way, and nothing was to be marked meanwhile.

-- @include ended.lua

-- @input
local requests = { unpack(KEYS, FIRST_FURTHER_KEY) }
local replies = {}
if mark and redis.call('ZCARD', open_requests) > 0 then
  return replies
end
for position, request in ipairs(requests) do
  local state, final = unpack(redis.call('HMGET', request, 'state', 'final'))
  replies[position] = state and final ~= '1' and '1' or '0'
  if mark and not state then
    local first = FIRST_FURTHER_ARGUMENT + 4 * (position - 1)
-- @row logged-request ARGV first
    redis.call('HSET', request, 'state', 'closed', 'final', '1', 'seq', seq, 'key', key, 'day', day, 'model', model,
      'totals', figures)
    redis.call('PEXPIRE', request, CLOSED_RECORD_MS)
  end
end
return replies
