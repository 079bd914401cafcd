-- Of an organization's newest so many deleted keys, users and groups the record is kept until it expires.
local MOST_DELETED = 10000

-- The record of an older one goes at once: what is read of its figures has no name then.
local function bound_deleted(record, expires_at_ms)
  local prefix, name = string.match(record, '^(igw:{[^}]*}:)(.+)$')
  local list = prefix .. 'deleted'
  redis.call('ZADD', list, integer(now_milliseconds()), name)
  redis.call('PEXPIREAT', list, expires_at_ms)
  if redis.call('ZCARD', list) > MOST_DELETED then
    redis.call('UNLINK', prefix .. redis.call('ZPOPMIN', list)[1])
  end
end
