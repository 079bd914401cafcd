-- Limits of tokens per minute: a bucket for each limit of each owner. It holds a minute's tokens, refills with each
-- millisecond, and is paid behind: a request is admitted while the level of each of its buckets is above 0, and takes what it
-- has used whatever is left, so that a level may be below 0 and is paid off by time. In any t minutes at most
-- limit * (t + 1) tokens are taken, beside those of requests that were admitted before the level came to 0.
--
-- An owner's buckets are one hash, "tokens:<owner>": of each type its level ("total"), when it was that ("total:at", ms) and
-- of which limit ("total:limit"). It outlives a limit that is taken away, so that setting it again gives nothing.

-- Beside the time until it is full. What expires begins full.
local TOKENS_KEPT_MS = 86400000
-- In the order of the fields of a record.
local TOKEN_LIMIT_TYPES = { 'total', 'input', 'output' }

-- Adds an owner's buckets as they are now to `all`. `limits`: its limits in the order of TOKEN_LIMIT_TYPES, '' or false for
-- none. A limit that was changed keeps its level's share.
local function read_token_buckets(all, scope, key, limits, now_ms)
  local types, fields = {}, {}
  for position, name in ipairs(TOKEN_LIMIT_TYPES) do
    if (limits[position] or '') ~= '' then
      types[#types + 1] = { name = name, limit = tonumber(limits[position]) }
      fields[#fields + 1] = name
      fields[#fields + 1] = name .. ':at'
      fields[#fields + 1] = name .. ':limit'
    end
  end
  local state = redis.call('HMGET', key, unpack(fields))
  for position, bucket in ipairs(types) do
    local level, at_ms, limit = tonumber(state[3 * position - 2] or ''), tonumber(state[3 * position - 1] or ''),
      tonumber(state[3 * position] or '')
    local full = bucket.limit * UNITS_PER_LIMITED_TOKEN
    bucket.scope, bucket.key, bucket.full, bucket.at_ms = scope, key, full, at_ms or 0
    if not at_ms then
      bucket.level = full
    else
      level = level + math.max(0, now_ms - at_ms) * limit
      if limit ~= bucket.limit then
        level = math.floor(math.min(level, limit * UNITS_PER_LIMITED_TOKEN) * bucket.limit / limit)
      end
      bucket.level = math.min(full, level)
    end
    all[#all + 1] = bucket
  end
end

-- Of those that are empty the one that is above 0 last, nil when none is.
local function empty_token_bucket(all)
  local named
  for _, bucket in ipairs(all) do
    if bucket.level <= 0 then
      bucket.retry_ms = (1 - bucket.level) / bucket.limit
      if not named or bucket.retry_ms > named.retry_ms then
        named = bucket
      end
    end
  end
  return named
end

-- Of a prompt, before anybody has counted it.
local function take_prompt(all, tokens)
  for _, bucket in ipairs(all) do
    if bucket.name ~= 'output' then
      bucket.level = bucket.level - tokens * UNITS_PER_LIMITED_TOKEN
    end
  end
end

local function write_token_buckets(all, now_ms)
  local fields, key = {}, nil
  for position, bucket in ipairs(all) do
    key = bucket.key
    for _, text in ipairs({ bucket.name, integer(bucket.level), bucket.name .. ':at', integer(now_ms), bucket.name .. ':limit',
      integer(bucket.limit) }) do
      fields[#fields + 1] = text
    end
    local following = all[position + 1]
    if not following or following.key ~= key then
      redis.call('HSET', key, unpack(fields))
      fields = {}
    end
    -- Once an hour: what is in use never expires.
    if math.floor(bucket.at_ms / 3600000) ~= math.floor(now_ms / 3600000) then
      redis.call('PEXPIRE', key, integer(TOKENS_KEPT_MS + math.ceil((bucket.full - bucket.level) / bucket.limit)))
    end
  end
end

-- Which buckets they are, for the charges of a request that meets them: "key=total,input organization=output".
local function name_token_buckets(all)
  local names, key = {}, nil
  for _, bucket in ipairs(all) do
    if bucket.key == key then
      names[#names] = names[#names] .. ',' .. bucket.name
    else
      names[#names + 1] = bucket.scope .. '=' .. bucket.name
    end
    key = bucket.key
  end
  return table.concat(names, ' ')
end

-- The tightest of each type: "total <limit> <tokens left> <ms until it is full>", a comma between.
local function tell_token_buckets(all)
  local told = {}
  for _, name in ipairs(TOKEN_LIMIT_TYPES) do
    local tightest
    for _, bucket in ipairs(all) do
      if bucket.name == name and (not tightest or bucket.level < tightest.level) then
        tightest = bucket
      end
    end
    if tightest then
      told[#told + 1] = string.format('%s %d %d %d', name, tightest.limit,
        math.max(0, math.floor(tightest.level / UNITS_PER_LIMITED_TOKEN)),
        math.ceil((tightest.full - tightest.level) / tightest.limit))
    end
  end
  return table.concat(told, ',')
end
