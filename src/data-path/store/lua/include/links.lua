-- Links from a record to its owners, as from a key to its user and group: the owner's record, and its list of linked
-- records. A deleted owner accepts no links, so a list that was emptied for the deletion stays empty.

-- Returns the position in KEYS of the first owner's record that does not exist or was deleted, among pairs of record
-- and list from `first` on; nil if all exist.
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

-- Adds the record to the lists of these pairs.
local function link(first, id)
  for position = first, #KEYS, 2 do
-- @row owner-keys KEYS position
    redis.call('ZADD', list, '0', id)
  end
end

-- Removes the record from the lists in KEYS from `first` to `last`.
local function unlink(first, last, id)
  for position = first, last do
    redis.call('ZREM', KEYS[position], id)
  end
end
