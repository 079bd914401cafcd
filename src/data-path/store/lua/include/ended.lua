-- What a request leaves when it has ended.

-- As texts, as which Redis takes them: it puts a number into words each time.
-- How long a closed record answers repeats, late commands and replays (those older than 6 days are not replayed).
local CLOSED_RECORD_MS = '604800000'

-- Entries in the list of recent requests.
local RECENT_ENTRIES = '10000'

-- Puts a request on the list of recent ones, in the place of an entry that it had. `entry`: JSON, see
-- requests/recent-entry.ts. Returns the entry's id.
local function add_recent(stream, former_entry, request_id, entry)
  if former_entry then
    redis.call('XDEL', stream, former_entry)
  end
  -- One of sixteen cuts the list: to look whether it is too long takes as much as half of adding to it.
  if string.sub(request_id, -1) ~= '0' then
    return redis.call('XADD', stream, '*', 'id', request_id, 'request', entry)
  end
  return redis.call('XADD', stream, 'MAXLEN', '~', RECENT_ENTRIES, '*', 'id', request_id, 'request', entry)
end
