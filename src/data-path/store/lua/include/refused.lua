-- Refused requests have a stream of their own, so that a client that runs against its limit in a loop does not push
-- what others paid out of the list.
local REFUSED_ENTRIES = '2000'

-- `refusal`: a text for each of REFUSED_FIELDS. As one text they cost a fraction of what fields do.
local function add_refused(stream, request_id, refusal)
-- @names refused-fields
  local texts = {}
  for position, name in ipairs(REFUSED_FIELDS) do
    texts[position] = refusal[name]
  end
  redis.call('XADD', stream, 'MAXLEN', '~', REFUSED_ENTRIES, '*', 'id', request_id, 'refused', write_list(texts))
end
