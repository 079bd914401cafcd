-- Which usage row of its day, key and model a request counts in: the one of its combination of tags, or 'other' once the
-- month has as many combinations as are kept apart. A row is named after its combination, not after its number, so that
-- a request that was decided before Redis was restored from an older snapshot never counts in a row of others.
local MAX_TAG_COMBINATIONS = 1000
local OTHER_TAGS = 'other'

-- `combinations`: hash, row -> tags; 'other' -> '' once something counts there. `decided`: what the request's owner was
-- told before, '' for nothing yet. Reply: '' for a request without tags.
local function decide_tag_row(combinations, tags, decided, expires_at_ms)
  if tags == '' then
    return ''
  end
  local row = decided ~= '' and decided or string.sub(redis.sha1hex(tags), 1, 20)
  if redis.call('HEXISTS', combinations, row) == 1 then
    return row
  end
  if decided == '' and redis.call('HLEN', combinations) >= MAX_TAG_COMBINATIONS then
    row = OTHER_TAGS
  end
  redis.call('HSET', combinations, row, row == OTHER_TAGS and '' or tags)
  keep_until(combinations, expires_at_ms)
  return row
end
