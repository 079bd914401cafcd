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

-- Changes fields (name, value, name, value … in ARGV from `first` on). Returns the reply: the record before and after.
local function change_record(record, first)
  local before = redis.call('HGETALL', record)
  if ARGV[first] then
    redis.call('HSET', record, unpack(ARGV, first))
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
