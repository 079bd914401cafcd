-- Raises the version of what is stored. Programs of the version before go on until they are started anew.
--
-- KEYS[1] schema version
-- ARGV[1] version to raise to
--
-- Reply: the version that stands there then; '' when there is none, which nothing changes.
--
-- Keeps: the version never falls, whoever comes first.

local schema, wanted = KEYS[1], ARGV[1]

local stored = redis.call('GET', schema)
if not stored then
  return ''
end
if tonumber(stored) and tonumber(stored) < tonumber(wanted) then
  redis.call('SET', schema, wanted)
  return wanted
end
return stored
