-- Limits that a group or an organization gives to each member.

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

-- Returns the member limits of a user's group, or without a group of its organization. `of_organization`: nil if not
-- read yet.
local function member_limits_of(organization, group_id, of_organization)
  local version, _, _, of_group = read_owner(organization, 'group', group_id, 'member_limits')
  if version then
    return of_group or ''
  end
  return of_organization or redis.call('HGET', organization, 'member_limits') or ''
end

-- Merges the limits of a user: its own, and the member limits of all other periods and kinds.
local function with_member_limits(own, of_members)
  local rows = own
  for row, kind in string.gmatch(of_members, '((%a+ %a+ )%d+[@%d/]*)') do
    if not string.find(own, kind, 1, true) then
      rows = rows .. ',' .. row
    end
  end
  return rows
end
