-- Writes the record of a new key and puts it on its organization's list.
--
-- KEYS[1] organization        KEYS[2] key record      KEYS[3] list of the organization's keys
-- ARGV[1] key id              ARGV[2..] field, value, field, value …
--
-- Reply: 1; 0 when there is no such organization or there is a record with this id.

local organization, key_record, key_list = KEYS[1], KEYS[2], KEYS[3]
local key_id = ARGV[1]

if redis.call('EXISTS', organization) == 0 or redis.call('EXISTS', key_record) == 1 then
  return 0
end
redis.call('HSET', key_record, unpack(ARGV, 2))
redis.call('ZADD', key_list, '0', key_id)
return 1
