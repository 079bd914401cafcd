-- User and group that a request counts for, in addition to its key and organization. Decided once at admission and
-- carried with the request as one text, "user_1.group_2"; '' for none.

-- Returns the name of another record of the organization. It is only known from another record's fields, so callers
-- cannot declare it in KEYS; it has the same slot.
local function sibling(organization, name)
  return string.sub(organization, 1, -13) .. name
end

-- Reads a user or a group: version, stamp, name and the fields of these names, false if missing; nothing if it does
-- not exist or was deleted.
local function read_owner(organization, kind, id, ...)
  if (id or '') == '' then
    return nil
  end
  local fields = redis.call('HMGET', sibling(organization, kind .. ':' .. id), 'version', 'stamp', 'deleted_at', 'name', ...)
  if not fields[1] or (fields[3] or '') ~= '' then
    return nil
  end
  return fields[1], fields[2], fields[4], unpack(fields, 5)
end
