-- Versions by which callers check whether their cached settings are current.
--
-- A record has a stamp, "<version> <time us>", written by the first admission that sees a version. The time is part of
-- it because a version can occur twice with different settings, in a Redis that was restored from an older snapshot.
-- The version is part of it so that writers of records need not know of stamps: a stamp of another version is ignored.
-- The names of the record's rare settings follow, each after a space, so that admissions read no others. A script that
-- writes a rare setting changes the version, or deletes the stamp.

local function is_current(version, stamp)
  return stamp and string.sub(stamp, 1, #version + 1) == version .. ' '
end

-- Returns the rare settings that a record has, by name. `names`: all rare settings, with spaces in between; `flags`: those
-- of them that are '0' if they are off.
local function read_rare(record, version, stamp, names, flags)
  if is_current(version, stamp) then
    -- The time has 16 digits.
    names = string.sub(stamp, #version + 18)
    if names == '' then
      return {}
    end
  end
  local fields, rare = {}, {}
  for name in string.gmatch(names, '%S+') do
    fields[#fields + 1] = name
  end
  local values = redis.call('HMGET', record, unpack(fields))
  for position, name in ipairs(fields) do
    local value = values[position]
    if (value or '') ~= '' and not (value == '0' and string.find(flags, name, 1, true)) then
      rare[name] = value
    end
  end
  return rare
end

local function renew_stamp(record, version, stamp, now_us, rare)
  if is_current(version, stamp) then
    return stamp
  end
  stamp = version .. ' ' .. integer(now_us)
  for name in pairs(rare) do
    stamp = stamp .. ' ' .. name
  end
  redis.call('HSET', record, 'stamp', stamp)
  return stamp
end

-- Returns the settings version: current versions and stamps, which may be of earlier versions.
local function settings_version_of(key_version, key_stamp, organization_version, organization_stamp)
  return key_version .. ' ' .. (key_stamp or '') .. ' ' .. organization_version .. ' ' .. (organization_stamp or '')
end

-- Returns the part of the settings version for the key's user or group; '' for none. Contains the id, since a key
-- can change its owner.
local function owner_versions(id, version, stamp)
  return version and ' ' .. id .. ' ' .. version .. ' ' .. (stamp or '') or ''
end
