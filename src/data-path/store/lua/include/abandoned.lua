-- Removal of requests in flight whose clients disconnected between headers and body.

-- Removes up to `most` requests past their deadline that have no record. Such a request has another deadline among
-- the open requests, set by its admission, or no entry there any more. Requests with a record stay, since their
-- owner may come back.
local function remove_abandoned(inflight, open_requests, now_ms, most, own_id)
  local overdue = redis.call('ZRANGEBYSCORE', inflight, '-inf', string.format('%.0f', now_ms), 'WITHSCORES', 'LIMIT', 0, most)
  for position = 1, #overdue, 2 do
    local id, deadline_ms = overdue[position], overdue[position + 1]
    if id ~= own_id and redis.call('ZSCORE', open_requests, id) ~= deadline_ms then
      redis.call('ZREM', inflight, id)
    end
  end
end
