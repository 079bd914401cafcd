-- What a record belongs to, as a key to its user and its group: the owner's record, and its list of what belongs to it. A deleted owner
-- takes nothing more, so that a list that was emptied for its deletion stays empty.

-- The position of the first owner's record in KEYS that is not there or was deleted, among pairs of record and list
-- from `first` on; nil when all are there.
local function missing_owner(first)
  for position = first, #KEYS, 2 do
-- @row owner-keys KEYS position
    local version, deleted_at = unpack(redis.call('HMGET', record, 'version', 'deleted_at'))
    if not version or (deleted_at or '') ~= '' then
      return position
    end
  end
  return nil
end

-- Puts it on the lists of these pairs.
local function link(first, id)
  for position = first, #KEYS, 2 do
-- @row owner-keys KEYS position
    redis.call('ZADD', list, '0', id)
  end
end

-- Takes it from the lists in KEYS from `first` to `last`.
local function unlink(first, last, id)
  for position = first, last do
    redis.call('ZREM', KEYS[position], id)
  end
end
