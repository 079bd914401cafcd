-- Which usage row of its day, key and model a request counts in: the one of its combination of tags, or 'other' once the
-- month has as many combinations as are kept apart. A row is named after its combination, not after its number, so that
-- a request that was decided before Redis was restored from an older snapshot never counts in a row of others.
--
-- A key adds combinations while it has added fewer than are left: at most half of what it finds, so that no key takes those
-- of all others.
local MAX_TAG_COMBINATIONS = 1000
local OTHER_TAGS = 'other'

-- `combinations`: hash, row -> tags; 'other' -> '' once something counts there. `decided`: what the request's owner was
-- told before, '' for nothing yet. Reply: '' for a request without tags. `combinations .. ':keys'`: hash, key id -> how many
-- it has added.
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
      keep_until(keys, expires_at_ms)
    end
  end
  redis.call('HSET', combinations, row, row == OTHER_TAGS and '' or tags)
  keep_until(combinations, expires_at_ms)
  return row
end
