-- Shared code of changes of records. A record has a `version` that increases with each change: its ETag.

-- Returns nil if the record may be changed, otherwise the reply. `expected`: '' for any version.
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

-- Joins a record's token limits per minute into one field, for admissions: most records have none, and one missing
-- field is read faster than three empty ones. "<total>,<input>,<output>", '' for none, or just the number for a limit
-- on all tokens only; formatTokenLimits of records.ts writes the same into a new record.
local function join_token_limits(record)
  local limits = redis.call('HMGET', record, 'tpm', 'input_tpm', 'output_tpm')
  local total, by_type = limits[1] or '', (limits[2] or '') .. ',' .. (limits[3] or '')
  if total == '' and by_type == ',' then
    redis.call('HDEL', record, 'token_limits')
  else
    redis.call('HSET', record, 'token_limits', by_type == ',' and total or total .. ',' .. by_type)
  end
end

-- Changes fields (name, value, name, value … in ARGV from `first` on). Returns the record before and after.
local function change_record(record, first)
  local before = redis.call('HGETALL', record)
  if ARGV[first] then
    redis.call('HSET', record, unpack(ARGV, first))
    join_token_limits(record)
  end
  redis.call('HINCRBY', record, 'version', '1')
  return { 'changed', before, redis.call('HGETALL', record) }
end

-- Returns the new value of a field among the changes in ARGV from `first` on, or nil.
local function changed_value(name, first)
  for position = first, #ARGV, 2 do
    if ARGV[position] == name then
      return ARGV[position + 1]
    end
  end
  return nil
end
