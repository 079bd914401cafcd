-- Refused requests have a stream of their own, so that a client that runs against its limit in a loop does not push
-- what others paid out of the list.
local REFUSED_ENTRIES = 2000

-- `figures`: what the decision was made with, by name.
local function add_refused(stream, request_id, key_id, figures)
  local fields = {}
  for name, value in pairs(figures) do
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  redis.call('XADD', stream, 'MAXLEN', '~', REFUSED_ENTRIES, '*', 'id', request_id, 'key', key_id, unpack(fields))
end
