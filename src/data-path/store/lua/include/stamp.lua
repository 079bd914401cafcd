-- What tells whoever has a record's settings in memory that they are still the same.
--
-- A record has a stamp, "<version> <time us>", which the first admission that meets a version writes. The time is there
-- since a version can come twice, with other settings: in a Redis that was restored from an older snapshot. The version is
-- there so that whoever changes a record need not know of stamps: one of another version is none.

local function renew_stamp(record, version, stamp, now_us)
  if stamp and string.sub(stamp, 1, #version + 1) == version .. ' ' then
    return stamp
  end
  stamp = version .. ' ' .. integer(now_us)
  redis.call('HSET', record, 'stamp', stamp)
  return stamp
end

-- With the versions as they are now beside the stamps, which may be of earlier ones.
local function settings_version_of(key_version, key_stamp, organization_version, organization_stamp)
  return key_version .. ' ' .. (key_stamp or '') .. ' ' .. organization_version .. ' ' .. (organization_stamp or '')
end

-- Behind it, of a user or a group that the key belongs to; '' for none. With the id, since a key may come to another one.
local function owner_versions(id, version, stamp)
  return version and ' ' .. id .. ' ' .. version .. ' ' .. (stamp or '') or ''
end
