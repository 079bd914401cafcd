-- Whose a request is beside its key's and its organization's: a user's, a group's, both's. Which they are is decided once, at
-- its admission, and goes with the request as one text, "user_1.group_2"; '' for nobody's.

-- Another record of the same organization. Its name is known only behind another record's fields, so no caller can declare
-- it; it is in the same slot.
local function sibling(organization, name)
  return string.sub(organization, 1, -13) .. name
end

-- Of a user or a group: version, stamp, name and the fields of these names, false where there is none; nothing when it is
-- not there, or was deleted.
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
