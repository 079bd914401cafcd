-- Chooses the usage row of a request among those of its day, key and model: the row of its tag combination, or 'other'
-- once the month has its maximum of combinations. A row is named after its combination, not numbered, so that a
-- request from before Redis was restored from an older snapshot never counts in a wrong row.
--
-- A key may add combinations while it has added fewer than are left: at most half of what it finds, so that no key
-- takes those of all others.
local MAX_TAG_COMBINATIONS = 1000
local OTHER_TAGS = 'other'

-- `combinations`: hash, row -> tags; 'other' -> '' once something counts there. `decided`: the row in an earlier reply
-- to the request's owner, '' for none. Returns '' for a request without tags. `combinations .. ':keys'`: hash, key id
-- -> number of combinations that it has added.
local function decide_tag_row(combinations, key_id, tags, decided, expires_at_ms)
  if tags == '' then
    return ''
  end
  local row = decided ~= '' and decided or string.sub(redis.sha1hex(tags), 1, 20)
  if redis.call('HEXISTS', combinations, row) == 1 then
    return row
  end
  if decided == '' then
    local keys = combinations .. ':keys'
    local own = tonumber(redis.call('HGET', keys, key_id) or '0')
    if own >= MAX_TAG_COMBINATIONS - redis.call('HLEN', combinations) then
      row = OTHER_TAGS
    else
      redis.call('HINCRBY', keys, key_id, 1)
      expire_at(keys, expires_at_ms)
    end
  end
  redis.call('HSET', combinations, row, row == OTHER_TAGS and '' or tags)
  expire_at(combinations, expires_at_ms)
  return row
end
