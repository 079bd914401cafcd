-- Token limits per minute: one bucket per limit and owner. A bucket holds one minute's tokens, refills every
-- millisecond, and is charged afterwards: a request is admitted while the level of each of its buckets is above 0,
-- and takes the tokens that it used whatever is left, so a level may fall below 0 and recovers with time. In any t
-- minutes at most limit * (t + 1) tokens are taken, plus those of requests that were in flight when the t minutes
-- began or when the level reached 0.
--
-- Buckets of users, groups and organizations are shared, so heavy use by one member makes others wait. Therefore an
-- admission also takes an estimate of the output, which the end of the request replaces by the used tokens; no
-- level counts as lower than FLOOR_MINUTES below 0; and raising a limit fills its bucket.
--
-- A bucket is two fields: for a key in the hash of its bucket of requests, which an admission reads and writes
-- anyway, for other owners in "tokens:<owner>". "total:used" counts tokens used in addition to those that
-- admissions took; a charge only adds to it. "total" is the state after the last admission, '<dddd': units, time in
-- ms, limit, and the count at that time. The fields stay when a limit is removed, so that setting it again gives no
-- tokens.
--
-- This block adds an owner's buckets with their current levels to `buckets`: `limits` are the owner's `token_limits`,
-- `hash` has the buckets. After a change of a limit the level keeps its fraction, except for raised shared limits.
-- `stored_units` and `stored_at` become those of a key's bucket of requests. Numbers instead of texts: in Lua
-- converting one takes longer than calculating.
-- Reads: limits, scope, hash, now_ms, USED_FROM, UNITS_PER_LIMITED_TOKEN, FLOOR_MINUTES
-- Changes: buckets, stored_units, stored_at

local total, input, output = tonumber(limits), nil, nil
local values
if not total then
  total, input, output = string.match(limits, '^(%d*),(%d*),(%d*)$')
  total, input, output = tonumber(total), tonumber(input), tonumber(output)
  values = redis.call('HMGET', hash, 'total', 'total:used', 'units', 'at', 'input', 'input:used', 'output', 'output:used')
elseif scope == 'key' then
  values = redis.call('HMGET', hash, 'total', 'total:used', 'units', 'at')
else
  values = redis.call('HMGET', hash, 'total', 'total:used')
end
stored_units, stored_at = values[3] or stored_units, values[4] or stored_at
for position = 1, 7, 2 do
  local limit = position == 1 and total or position == 5 and input or position == 7 and output
  if limit then
    local state, used, level, at_ms = values[position], tonumber(values[position + 1] or USED_FROM), limit * UNITS_PER_LIMITED_TOKEN, 0
    if state then
      local stored_level, of_limit, counted
      stored_level, at_ms, of_limit, counted = struct.unpack('<dddd', state)
      stored_level = stored_level - (used - counted) * UNITS_PER_LIMITED_TOKEN
      if now_ms > at_ms then
        stored_level = stored_level + (now_ms - at_ms) * of_limit
      end
      if of_limit < limit and scope ~= 'key' then
        stored_level = level
      elseif of_limit ~= limit then
        stored_level = math.floor(math.min(stored_level, of_limit * UNITS_PER_LIMITED_TOKEN) * limit / of_limit)
      end
      if stored_level < level then
        level = scope == 'key' and stored_level or math.max(stored_level, -FLOOR_MINUTES * limit * UNITS_PER_LIMITED_TOKEN)
      end
    end
    -- In the order of BUCKET_SCOPE and the following.
    buckets[#buckets + 1] = { scope, hash, position == 1 and 'total' or position == 5 and 'input' or 'output', limit, level, used, at_ms }
  end
end
