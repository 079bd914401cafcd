-- Limits of tokens per minute: a bucket for each limit of each owner. It holds a minute's tokens, refills with each
-- millisecond, and is paid behind: a request is admitted while the level of each of its buckets is above 0, and takes what it
-- has used whatever is left, so that a level may be below 0 and is paid off by time. In any t minutes at most
-- limit * (t + 1) tokens are taken, beside those of requests that were in flight when the t minutes began or when the level
-- came to 0.
--
-- A bucket of a user, a group or an organization is shared: who uses much keeps others waiting. So an admission takes an
-- estimate of the output too, which the end replaces by what was used; an admission finds no level below that of
-- FLOOR_MINUTES, and what is below is forgiven; and a limit that was raised has a full bucket.
--
-- A bucket is two fields: of a key in the hash of its bucket of requests, which an admission reads and writes anyway, of any
-- other owner in "tokens:<owner>". "total:used" counts what was used beside what admissions took; all that a charge does is
-- add to it. "total" is what the last admission left, '<dddd': its units, when that was, ms, of which limit, and what was
-- counted by then. They outlive a limit that is taken away, so that setting it again gives nothing.
--
-- No functions, of which Redis makes each anew at each run, and numbers as they are: Lua takes longer to read or write one as
-- text than to calculate. What follows is a piece of its script. It adds an owner's buckets as they are now to `buckets`.
-- It is given `limits`, its `token_limits`, `scope` and `hash`, which the buckets are in; a limit that was changed keeps its
-- level's share, but for shared ones that were raised. `stored_units`, `stored_at`: of a key, of its bucket of requests.

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
      local left, of_limit, counted
      left, at_ms, of_limit, counted = struct.unpack('<dddd', state)
      left = left - (used - counted) * UNITS_PER_LIMITED_TOKEN
      if now_ms > at_ms then
        left = left + (now_ms - at_ms) * of_limit
      end
      if of_limit < limit and scope ~= 'key' then
        left = level
      elseif of_limit ~= limit then
        left = math.floor(math.min(left, of_limit * UNITS_PER_LIMITED_TOKEN) * limit / of_limit)
      end
      if left < level then
        level = scope == 'key' and left or math.max(left, -FLOOR_MINUTES * limit * UNITS_PER_LIMITED_TOKEN)
      end
    end
    -- In the order of BUCKET_SCOPE and the following.
    buckets[#buckets + 1] = { scope, hash, position == 1 and 'total' or position == 5 and 'input' or 'output', limit, level, used, at_ms }
  end
end
