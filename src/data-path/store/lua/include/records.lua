-- What the changes of records share. A record has a `version` that goes up with each change: its ETag.

-- Nil when the record may be changed, else the reply. `expected` is '' for any version.
local function refuse_change(record, expected)
  local fields = redis.call('HMGET', record, 'version', 'deleted_at')
  if not fields[1] or (fields[2] and fields[2] ~= '') then
    return { 'not_found' }
  end
  if expected ~= '' and expected ~= fields[1] then
    return { 'version_conflict', redis.call('HGETALL', record) }
  end
  return nil
end

-- A record's limits of tokens per minute in one field, for admissions: the most of them have none, and read one that is not
-- there in less time than three that are ''. "<total>,<input>,<output>", '' for none, or of one on all tokens alone just that;
-- formatTokenLimits of records.ts writes the same into a new record.
local function join_token_limits(record)
  local limits = redis.call('HMGET', record, 'tpm', 'input_tpm', 'output_tpm')
  local total, others = limits[1] or '', (limits[2] or '') .. ',' .. (limits[3] or '')
  if total == '' and others == ',' then
    redis.call('HDEL', record, 'token_limits')
  else
    redis.call('HSET', record, 'token_limits', others == ',' and total or total .. ',' .. others)
  end
end

-- All limits of a record in one field, which decides: of a key and an organization those of a month as well, which have fields of
-- their own, as the API has them. formatLimitRows of records.ts writes the same into a new record.
local function join_limits(record)
  local cap, budget, limits = unpack(redis.call('HMGET', record, 'hard_cap_cents', 'budget_cents', 'limits'))
  local rows = {}
  for _, row in ipairs({ { 'month budget ', budget }, { 'month cap ', cap }, { '', limits } }) do
    if (row[2] or '') ~= '' then
      rows[#rows + 1] = row[1] .. row[2]
    end
  end
  if #rows == 0 then
    redis.call('HDEL', record, 'limit_rows')
  else
    redis.call('HSET', record, 'limit_rows', table.concat(rows, ','))
  end
end

-- Changes fields (name, value, name, value … in ARGV from `first` on). Returns the reply: the record before and after.
local function change_record(record, first)
  local before = redis.call('HGETALL', record)
  if ARGV[first] then
    redis.call('HSET', record, unpack(ARGV, first))
    join_token_limits(record)
    join_limits(record)
  end
  redis.call('HINCRBY', record, 'version', '1')
  return { 'changed', before, redis.call('HGETALL', record) }
end

-- The new value of a field among the changes in ARGV from `first` on, or nil.
local function changed_value(name, first)
  for position = first, #ARGV, 2 do
    if ARGV[position] == name then
      return ARGV[position + 1]
    end
  end
  return nil
end
