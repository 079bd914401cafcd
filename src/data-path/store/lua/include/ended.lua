-- Traces of ended requests.

-- Time that a closed record is kept for repeated, late and replayed commands (those older than 6 days are not
-- replayed). Text, because Redis converts a number in each command.
local CLOSED_RECORD_MS = '604800000'

-- Number of entries in the list of recent requests.
local RECENT_ENTRIES = '10000'

-- Adds a request to the list of recent ones, in place of its previous entry. `entry`: JSON, see
-- requests/recent-entry.ts. Returns the entry's id.
local function add_recent(stream, former_entry, request_id, entry)
  if former_entry then
    redis.call('XDEL', stream, former_entry)
  end
  -- Trim in one of sixteen calls: the check costs half as much as the addition.
  if string.sub(request_id, -1) ~= '0' then
    return redis.call('XADD', stream, '*', 'id', request_id, 'request', entry)
  end
  return redis.call('XADD', stream, 'MAXLEN', '~', RECENT_ENTRIES, '*', 'id', request_id, 'request', entry)
end
