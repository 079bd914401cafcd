-- Rejected requests have a separate stream, so that a client that runs against its limit in a loop does not push paid
-- requests out of the list.
local REFUSED_ENTRIES = '2000'

-- Adds a rejection. `refusal`: a text for each of REFUSED_FIELDS, written as one text, which costs a fraction of
-- separate fields.
local function add_refused(stream, request_id, refusal)
-- @names refused-fields
  local texts = {}
  for position, name in ipairs(REFUSED_FIELDS) do
    texts[position] = refusal[name]
  end
  redis.call('XADD', stream, 'MAXLEN', '~', REFUSED_ENTRIES, '*', 'id', request_id, 'refused', write_list(texts))
end
