-- Versions by which callers check whether their cached settings are current.
--
-- A record has a stamp, "<version> <time us>", written by the first admission that sees a version. The time is part of
-- it because a version can occur twice with different settings, in a Redis that was restored from an older snapshot.
-- The version is part of it so that writers of records need not know of stamps: a stamp of another version is ignored.
-- It ends with " +" if the record has one of the settings that few records have; admissions read these only then.

local function is_current(version, stamp)
  return stamp and string.sub(stamp, 1, #version + 1) == version .. ' '
end

-- Returns whether the record has none of the rare settings.
local function is_plain(version, stamp)
  return is_current(version, stamp) and string.sub(stamp, -1) ~= '+'
end

local function renew_stamp(record, version, stamp, now_us, has_rare)
  if is_current(version, stamp) then
    return stamp
  end
  stamp = version .. ' ' .. integer(now_us) .. (has_rare and ' +' or '')
  redis.call('HSET', record, 'stamp', stamp)
  return stamp
end

-- Returns the settings version: current versions and stamps, which may be of earlier versions.
local function settings_version_of(key_version, key_stamp, organization_version, organization_stamp)
  return key_version .. ' ' .. (key_stamp or '') .. ' ' .. organization_version .. ' ' .. (organization_stamp or '')
end

-- Returns the suffix for the key's user or group; '' for none. Contains the id, since a key can change its owner.
local function owner_versions(id, version, stamp)
  return version and ' ' .. id .. ' ' .. version .. ' ' .. (stamp or '') or ''
end
