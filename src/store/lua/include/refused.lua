-- Refused requests have a stream of their own, so that a client that runs against its limit in a loop does not push
-- what others paid out of the list.
local REFUSED_ENTRIES = '2000'

-- `refusal`: texts in the order of REFUSED_FIELDS in requests/recent.ts. As one text they cost a fraction of what fields do.
local function add_refused(stream, request_id, refusal)
  redis.call('XADD', stream, 'MAXLEN', '~', REFUSED_ENTRIES, '*', 'id', request_id, 'refused', write_list(refusal))
end
