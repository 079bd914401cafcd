-- Renews the deadlines of an owner's requests to now + 30 s. Reopens those that another worker has closed
-- meanwhile, unless they have had their final charge.
--
-- KEYS[1] open requests   KEYS[2] organization, then for each request: request record, requests in flight of its key
-- ARGV[n] id of the n-th request
--
-- Reply: for each request 'renewed', 'reopened', 'ended' (had its final charge) or 'missing' (no record).
--
-- Guarantees: reserved amount = max(0, worst - charged) of every open record; requests in flight of a key = its open records.

-- @include integer.lua
-- @include time.lua
-- @include spend.lua
-- @include requests.lua
-- @include owners.lua
-- @include counters.lua

-- @input
local deadline_ms = integer(now_milliseconds() + DEADLINE_MS)

local function renew(request_id, request, inflight)
  local fields = redis.call('HMGET', request, 'state', 'final', 'key', 'worst', 'microcents', 'held_in', 'owners', 'day',
    'session', 'session_since')
  local state, final, key_id = fields[1], fields[2] == '1', fields[3]
  if not state then return 'missing' end
  if final then return 'ended' end
  redis.call('ZADD', open_requests, deadline_ms, request_id)
  redis.call('ZADD', inflight, deadline_ms, request_id)
  if state == 'open' then return 'renewed' end
  local remaining = math.max(0, number_or_zero(fields[4]) - number_or_zero(fields[5]))
  local held_in = fields[6] or ''
  if held_in ~= '' and remaining > 0 then
    move_windows(organization, fields[8], held_in, subjects_of(key_id, fields[7] or ''), 'held:', integer(remaining))
  end
  if (fields[10] or '') ~= '' then
-- @include sessions.lua
    move_session(organization, key_id, fields[9], fields[10], 0, remaining)
  end
  redis.call('HSET', request, 'state', 'open', 'left', integer(remaining))
  return 'reopened'
end

local outcomes = {}
for position, request_id in ipairs({ unpack(ARGV, FIRST_FURTHER_ARGUMENT) }) do
  local first = FIRST_FURTHER_KEY + 2 * (position - 1)
-- @row renewed-keys KEYS first
  outcomes[position] = renew(request_id, request, inflight)
end
return outcomes
