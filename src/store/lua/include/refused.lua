-- Refused requests have a stream of their own, so that a client that runs against its limit in a loop does not push
-- what others paid out of the list.
local REFUSED_ENTRIES = 2000

-- `reply` is that of admit: the figures that the decision was made with.
local function add_refused(stream, request_id, key_id, route, bucket_name, reply)
  redis.call('XADD', stream, 'MAXLEN', '~', REFUSED_ENTRIES, '*', 'id', request_id, 'key', key_id, 'route', route,
    'decision', reply[1], 'bucket', bucket_name, 'rpm', reply[5], 'hard_cap_cents', reply[6], 'max_concurrent', reply[9],
    'expires_at', reply[10], 'spent', reply[11], 'currency', reply[13], 'organization_hard_cap_cents', reply[14],
    'organization_spent', reply[17], 'remaining', reply[18], 'capacity', reply[19], 'retry_after', reply[21],
    'concurrent', reply[22])
end
